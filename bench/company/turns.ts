import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { findCompany } from '../../src/company/company.ts';
import { storeKey } from '../../src/company/credentials/keys/verbs.ts';
import { Database } from '../../src/kernel/database/database.ts';
import { migrate, readMigrations } from '../../src/kernel/schema/migrations.ts';
import type { Scope } from '../../src/kernel/scopes.ts';
import { systemClock } from '../../src/kernel/time/time.ts';
import type { ServerConnection } from '../../src/postgres/bundled-postgres.ts';
import { openEnvironment } from '../environment.ts';
import { formatLoad } from '../report/machine.ts';
import { Progress } from '../report/progress.ts';
import { toSpread } from '../report/summary.ts';
import { formatTable } from '../report/table.ts';
import { type Server, startService } from '../servers.ts';
import { cpuSecondsOfTree } from '../usage.ts';
import { COMPANIES, seedLargeCompany, sizeAt } from './seed.ts';

/** Measures requests to a large company, and to the same company with a hundredth of the records, in turns. */

const MAX_RATIO = 1.5;
const SMALLER = 0.01;

export type CompanyRequest = {
  /** The path in a database, which may depend on its records. */
  path: string | ((client: pg.Client, companyId: string) => Promise<string>);
  /** Of the credential; all of them if there are none. */
  scopes?: readonly Scope[];
};
type Options = {
  /** What one request is, for the table. */
  title: string;
  requests: Readonly<Record<string, CompanyRequest>>;
  /** How many records a response has. If the smaller company has fewer, pages of as many are compared too. */
  countRecords?: (response: string) => number;
  /** Does for a database what is still to be done for its records. */
  prepare?: (connection: ServerConnection) => Promise<void>;
};

/** A service with a database, and what is asked of it. */
type Target = { server: Server; databasePid: number; asked: Asked[] };
type Asked = { path: string; token: string };
type Targets = { small: Target; large: Target };
type Cost = { cpuMs: number; ms: number };

/** Prints a table. The process fails if a request costs more than it may. */
export async function compareSizes(options: Options): Promise<void> {
  const { values } = parseArgs({
    options: {
      scale: { type: 'string', default: '1' },
      rounds: { type: 'string', default: '7' },
      requests: { type: 'string', default: '20' },
      /** Only the requests whose names begin with one of these, separated by commas. */
      only: { type: 'string', default: '' },
      /** Keeps both databases in this folder for the next run. */
      dir: { type: 'string' },
    },
  });
  const { title, countRecords, prepare } = options;
  const requests = Object.fromEntries(
    Object.entries(options.requests).filter(([name]) => values.only.split(',').some((start) => name.startsWith(start))),
  );
  const [scale, rounds, count] = [Number(values.scale), Number(values.rounds), Number(values.requests)];
  const names = Object.keys(requests);
  const preparation = new Progress(0);
  const before = loadavg();
  const environment = await openEnvironment({
    companies: COMPANIES,
    dir: values.dir,
    seed: async (client, companies, connection) => {
      await client.query('CREATE DATABASE large TEMPLATE case_records');
      for (const [database, size] of Object.entries({ [connection.database]: scale * SMALLER, large: scale })) {
        const seeding = new pg.Client({ ...connection, database });
        await seeding.connect();
        await seedLargeCompany(seeding, companies, sizeAt(size), (step) => preparation.say(`${database}: ${step} …`));
        await seeding.end();
      }
    },
  });
  try {
    const { connection, dataDir, databasePid, companies } = environment;
    const [company] = companies;
    if (!company) throw new Error('There is no company.');
    const targetOf = async (database: string): Promise<Target> => {
      const own = { ...connection, database };
      await migrate(own, await readMigrations());
      if (prepare) preparation.say(`${database}: preparing …`);
      await prepare?.(own);
      const server = environment.use(await startService(own, { dataDir }));
      return { server, databasePid, asked: await askedOf(own, company, Object.values(requests)) };
    };
    const targets = { small: await targetOf(connection.database), large: await targetOf('large') };
    if (countRecords) names.push(...(await addEqualPages(targets, names, countRecords)));
    const progress = new Progress(names.length * rounds);
    const onRound = (nth: number, round: number) => progress.step(names[nth] ?? '', `round ${round}`);
    const rows = await measureInTurns(targets, { names, rounds, count, onRound });
    progress.end();
    console.log(formatTable([title, 'CPU ratio', 'time ratio', 'CPU ms', 'a hundredth', 'ms', 'a hundredth'], rows));
    console.log(
      `\n* more than ${MAX_RATIO}. Load average before ${formatLoad(before)}, after ${formatLoad(loadavg())}.`,
    );
  } finally {
    await environment.close();
  }
}

/** Returns the path and the credential of each request in a database. */
async function askedOf(
  connection: ServerConnection,
  company: { id: string; token: string },
  requests: readonly CompanyRequest[],
): Promise<Asked[]> {
  const db = new Database({ connection, poolSize: 1 });
  const client = new pg.Client(connection);
  try {
    await client.connect();
    const context = { db, clock: systemClock, company: await findCompany({ db }, company.id) };
    const asked: Asked[] = [];
    for (const { path, scopes } of requests) {
      const token = scopes ? JSON.parse(await storeKey(context, { name: 'bench', scopes })).key : company.token;
      asked.push({ path: typeof path === 'string' ? path : await path(client, company.id), token });
    }
    return asked;
  } finally {
    await client.end();
    await db.close();
  }
}

/** Asks for pages of equal length too, where the smaller company has fewer records. Returns the names of these requests. */
async function addEqualPages(
  { small, large }: Targets,
  names: readonly string[],
  countRecords: (response: string) => number,
): Promise<string[]> {
  const added: string[] = [];
  for (const [nth, name] of names.entries()) {
    const [ofSmall, ofLarge] = [small.asked[nth] as Asked, large.asked[nth] as Asked];
    const count = countRecords(await ask(small.server, ofSmall));
    if (count >= countRecords(await ask(large.server, ofLarge))) continue;
    const limit = Math.max(1, count);
    for (const [target, { path, token }] of [[small, ofSmall] as const, [large, ofLarge] as const]) {
      const url = new URL(path, 'http://service');
      url.searchParams.set('limit', String(limit));
      target.asked.push({ path: url.pathname + url.search, token });
    }
    added.push(`${name}, pages of ${limit}`);
  }
  return added;
}

type Turns = {
  names: readonly string[];
  rounds: number;
  /** Requests in a round. */
  count: number;
  onRound(nth: number, round: number): void;
};

/** Returns a row of the table for each request. */
async function measureInTurns(
  { small, large }: Targets,
  { names, rounds, count, onRound }: Turns,
): Promise<string[][]> {
  const rows: string[][] = [];
  for (const [nth, name] of names.entries()) {
    const costs: { small: Cost; large: Cost }[] = [];
    for (const target of [small, large]) await measure(target, nth, count);
    for (let round = 1; round <= rounds; round++) {
      onRound(nth, round);
      const first = await measure(round % 2 === 0 ? small : large, nth, count);
      const second = await measure(round % 2 === 0 ? large : small, nth, count);
      costs.push(round % 2 === 0 ? { small: first, large: second } : { small: second, large: first });
    }
    const median = (of: (cost: (typeof costs)[number]) => number) => toSpread(costs.map(of)).median;
    const ratio = median((cost) => cost.large.cpuMs / cost.small.cpuMs);
    const misses = ratio > MAX_RATIO;
    if (misses) process.exitCode = 1;
    rows.push([
      name,
      `${ratio.toFixed(2)}${misses ? ' *' : ''}`,
      median((cost) => cost.large.ms / cost.small.ms).toFixed(2),
      median((cost) => cost.large.cpuMs).toFixed(1),
      median((cost) => cost.small.cpuMs).toFixed(1),
      median((cost) => cost.large.ms).toFixed(1),
      median((cost) => cost.small.ms).toFixed(1),
    ]);
  }
  return rows;
}

async function measure({ server, databasePid, asked }: Target, nth: number, count: number): Promise<Cost> {
  const cpuSeconds = () => (cpuSecondsOfTree(server.pid) ?? Number.NaN) + (cpuSecondsOfTree(databasePid) ?? Number.NaN);
  const [cpu, startedAt] = [cpuSeconds(), performance.now()];
  for (let i = 0; i < count; i++) await ask(server, asked[nth] as Asked);
  return { cpuMs: ((cpuSeconds() - cpu) * 1000) / count, ms: (performance.now() - startedAt) / count };
}

async function ask({ port }: Server, { path, token }: Asked): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { authorization: `Bearer ${token}` } });
  const text = await response.text();
  if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
  return text;
}
