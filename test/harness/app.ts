import { randomBytes } from 'node:crypto';
import { Agent } from 'node:http';
import { after } from 'node:test';
import pg from 'pg';
import pino from 'pino';
import type { Client } from '../../packages/client/src/index.ts';
import { CreateAdviserBody } from '../../src/company/advisers/schema.ts';
import { createAdviser } from '../../src/company/advisers/verbs.ts';
import { CreateCaseBody } from '../../src/company/cases/schema.ts';
import { createCase } from '../../src/company/cases/verbs.ts';
import { CreateCompanyBody } from '../../src/company/companies/schema.ts';
import { createCompany } from '../../src/company/companies/verbs.ts';
import { findCompany } from '../../src/company/company.ts';
import { storeKey } from '../../src/company/credentials/keys/verbs.ts';
import { CreateCustomerBody } from '../../src/company/customers/schema.ts';
import { createCustomer } from '../../src/company/customers/verbs.ts';
import { CustomTagBody } from '../../src/company/tags/schema.ts';
import { createCustomTag } from '../../src/company/tags/verbs.ts';
import { Database } from '../../src/kernel/database/database.ts';
import { COMPANY_SCOPES } from '../../src/kernel/scopes.ts';
import { readForm } from '../../src/kernel/validation/form.ts';
import { SERVICE_ROLE } from '../../src/postgres/bundled-postgres.ts';
import { type AppOptions, buildApp } from '../../src/server/app.ts';
import { describedClient } from './client.ts';
import { type Caller, caller } from './http.ts';

/** A clock that only a test moves. */
export class TestClock {
  #now = Temporal.Instant.from('2026-06-01T09:00:00Z');
  readonly read = (): Temporal.Instant => this.#now;

  set(iso: string): void {
    this.#now = Temporal.Instant.from(iso);
  }

  advance(duration: Temporal.DurationLike): void {
    this.#now = this.#now.add(duration);
  }
}

export type Customer = {
  id: string;
  title: string;
  first_names: string;
  last_name: string;
  email: string;
  phone: string;
};

/** A company with its own token, two advisers, two custom tags and one case with two customers. */
export type TestCompany = Caller & {
  companyId: string;
  token: string;
  /** The client with the same token, for what a test only arranges. The requests that it is about, it sends itself. */
  client: Client;
  /** The path of its first case: /cases/{caseId} */
  path: string;
  caseId: string;
  customers: [Customer, Customer];
  adviser: string;
  adviserWithVideo: string;
  customTags: string[];
  /** Opens another case, without customers, and returns its id. */
  openCase(): Promise<string>;
  addCustomer(caseId: string, customer: Partial<Omit<Customer, 'id'>>): Promise<string>;
  /** The same company with another token. */
  withScopes(...scopes: string[]): Promise<Caller>;
  tokenFor(scopes: readonly string[]): Promise<string>;
};

export type TestApp = {
  clock: TestClock;
  baseUrl: string;
  db: Database;
  /** Connects as the owner of the database. */
  connection: { host: string; user: string; database: string };
  company(options?: { timeZone?: string }): Promise<TestCompany>;
  /** A caller without credentials. */
  anonymous: Caller;
  /** Reads or changes the database directly, as its owner. */
  sql<Row extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<Row[]>;
  close(): Promise<void>;
};

type DatabaseSettings = {
  /** A database that the test has made; by default a new one at today's schema. It is dropped at the end. */
  database?: string;
  /** The port of a proxy between the app and the database. */
  port?: number;
  responseTimeoutMs?: number;
  requestDeadlineMs?: number;
};

/** Starts the real app on a port and a database of its own. Both are closed when the test file ends. */
export async function startApp(
  options: Partial<AppOptions> = {},
  { port, database: made, ...limits }: DatabaseSettings = {},
): Promise<TestApp> {
  const server = JSON.parse(process.env.TEST_POSTGRES ?? 'null');
  if (!server) throw new Error('Run the tests with npm test, which starts the database.');
  const database = made ?? `test_${randomBytes(6).toString('hex')}`;
  if (made === undefined) await administer(server, `CREATE DATABASE ${database} TEMPLATE template STRATEGY FILE_COPY`);
  const connection = { ...server, database };
  const clock = new TestClock();
  // The app has the same rights as in production. Tests read and change the database as its owner.
  const service =
    port === undefined
      ? { ...connection, user: SERVICE_ROLE }
      : { connectionString: `postgresql://${SERVICE_ROLE}@127.0.0.1:${port}/${database}` };
  const db = new Database({ connection: service, poolSize: 8, ...limits });
  const owner = new pg.Pool({ ...connection, max: 4 });
  owner.on('error', () => {});
  const http = await buildApp({ db, clock: clock.read, logger: pino({ level: 'silent' }), ...options });
  const baseUrl = await http.listen({ host: '127.0.0.1', port: 0 });
  // Requests of companies share connections, because opening one costs as much as the request.
  const agent = new Agent({ keepAlive: true });
  const close = async () => {
    agent.destroy();
    await http.close();
    await db.close();
    await owner.end();
    await administer(server, `DROP DATABASE ${database}`);
  };
  after(close);
  const admin = { db, clock: clock.read };
  return {
    clock,
    baseUrl,
    db,
    connection,
    close,
    anonymous: caller(baseUrl),
    sql: async (text, values = []) => (await owner.query(text, values)).rows,
    company: async ({ timeZone = 'Europe/London' } = {}) => {
      const settings = { name: 'Smith & Partners', time_zone: timeZone };
      const companyId = idOf(await createCompany(admin, readForm(CreateCompanyBody, settings)));
      const companyContext = { ...admin, company: await findCompany(admin, companyId) };
      const tokenFor = async (scopes: readonly string[]): Promise<string> =>
        JSON.parse(await storeKey(companyContext, { name: 'test', scopes })).key;
      const mark = randomBytes(3).toString('hex');
      const adviser = `adviser-${mark}@firm.example`;
      const adviserWithVideo = `video-${mark}@firm.example`;
      for (const body of [
        { email: adviser, name: 'Alex Adviser' },
        { email: adviserWithVideo, name: 'Vic Video', video_provider: 'jitsi' },
      ]) {
        await createAdviser(companyContext, readForm(CreateAdviserBody, body));
      }
      const customTags = ['vip-client', 'newsletter'];
      for (const tag of customTags) await createCustomTag(companyContext, readForm(CustomTagBody, { tag }));
      const addTo = async (caseId: string, customer: Omit<Customer, 'id'>) =>
        idOf(await createCustomer(companyContext, caseId, readForm(CreateCustomerBody, customer)));
      const open = async (reference: string) =>
        idOf(await createCase(companyContext, readForm(CreateCaseBody, { reference })));
      const caseId = await open('Smith');
      const john = {
        title: 'Mr',
        first_names: 'John',
        last_name: 'Smith',
        email: `john-${mark}@client.example`,
        phone: '07400 123456',
      };
      const ann = {
        title: 'Mrs',
        first_names: 'Ann',
        last_name: 'Smith',
        email: `ann-${mark}@client.example`,
        phone: '07400 654321',
      };
      const customers: [Customer, Customer] = [
        { id: await addTo(caseId, john), ...john },
        { id: await addTo(caseId, ann), ...ann },
      ];
      const token = await tokenFor(COMPANY_SCOPES);
      return {
        ...caller(baseUrl, token, agent),
        companyId,
        token,
        client: describedClient(baseUrl, token),
        caseId,
        path: `/cases/${caseId}`,
        customers,
        adviser,
        adviserWithVideo,
        customTags,
        openCase: () => open('another'),
        addCustomer: (id, customer) => addTo(id, { ...john, ...customer }),
        withScopes: async (...scopes) => caller(baseUrl, await tokenFor(scopes), agent),
        tokenFor,
      };
    },
  };
}

const idOf = (record: string): string => JSON.parse(record).id;

async function administer(server: pg.ClientConfig, text: string): Promise<void> {
  const client = new pg.Client(server);
  await client.connect();
  await client.query(text);
  await client.end();
}
