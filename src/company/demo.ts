import type { Database, Executor } from '../kernel/database/database.ts';
import { COMPANY_SCOPES } from '../kernel/scopes.ts';
import { type Clock, toSql } from '../kernel/time/time.ts';
import { readForm } from '../kernel/validation/form.ts';
import type { AdminContext, CompanyContext } from './admin-context.ts';
import { CreateAdviserBody } from './advisers/schema.ts';
import { createAdviser } from './advisers/verbs.ts';
import { CreateCaseBody } from './cases/schema.ts';
import { createCase } from './cases/verbs.ts';
import { CreateCompanyBody } from './companies/schema.ts';
import { createCompany, hasCompanies } from './companies/verbs.ts';
import { findCompany } from './company.ts';
import { EndCredentialQuery } from './credentials/descendants.schema.ts';
import { revokeKey, storeKey } from './credentials/keys/verbs.ts';
import { createLocalLink } from './credentials/links/verbs.ts';
import { secretHash } from './credentials/secrets.ts';
import { CreateUserBody } from './credentials/users/schema.ts';
import { createUser } from './credentials/users/verbs.ts';
import * as sql from './demo.sql.ts';
import { type Demo, demoAt, readDemo, writeDemo } from './demo-file.ts';
import { CustomTagBody } from './tags/schema.ts';
import { createCustomTag, listDefaultTags } from './tags/verbs.ts';

const COMPANY_NAME = 'Demonstration & Partners';
const KEY_NAME = 'demonstration';
const CASE_REFERENCE = 'Smith, wills';
const TIME_ZONE = 'Europe/London';
const ADVISERS = [
  { email: 'vera.video@demo.example', name: 'Vera Video', video_provider: 'jitsi' },
  { email: 'paul.phone@demo.example', name: 'Paul Phone', video_provider: null },
];
const CUSTOMERS = [
  { title: 'Mr', first_names: 'John', last_name: 'Smith', email: 'john.smith@client.example', phone: '+447400123456' },
  { title: 'Mrs', first_names: 'Ann', last_name: 'Smith', email: 'ann.smith@client.example', phone: '+447400654321' },
];
const OWNER = { email: 'olivia.owner@demo.example', name: 'Olivia Owner', role: 'owner' };
const CUSTOM_TAGS = ['vip-client', 'newsletter'];

type DemoContent = Parameters<typeof demoAt>[1];
type DemoOptions = { baseUrl: string; file: string };
/** The company was created, or its key replaced because the file was lost, or both are kept and the token works. */
type EnsuredDemo = { created?: Demo; renewed?: Demo; kept?: Demo };

/** Runs when the bundled database starts, so that the demonstration company and its file exist together. */
export async function ensureDemo(db: Database, clock: Clock, options: DemoOptions): Promise<EnsuredDemo> {
  const { file, baseUrl } = options;
  const demo = await readDemo(file);
  if (demo === 'removed') return {};
  if (!(await hasCompanies({ db }))) return { created: await createDemo(db, clock, options) };
  if (demo === 'unreadable') return {};
  // A crash after the file was written and before the commit leaves a token that is not in the database.
  const token = demo === 'lost' ? undefined : await findDemoToken(db, demo);
  const renewed = token ? undefined : await renewDemo(db, clock, options);
  if (renewed) return { renewed };
  if (demo === 'lost') return {};
  // The service may listen at another address now than when the file was written.
  const kept = demo.base_url === baseUrl ? demo : demoAt(baseUrl, demo);
  if (kept !== demo) await writeDemo(file, kept);
  return token?.works ? { kept } : {};
}

/** Returns the company whose token the file has; undefined if there is none. */
export async function findDemoCompanyId(db: Executor, file: string): Promise<string | undefined> {
  const demo = await readDemo(file);
  if (typeof demo === 'string') return undefined;
  return (await findDemoToken(db, demo))?.company_id;
}

const findDemoToken = (db: Executor, { token }: Demo) =>
  db.queryFirst<{ company_id: string; works: boolean }>(sql.findToken({ secret_sha256: secretHash(token) }));

/**
 * Creates a company to try the API with. The file is written before the commit, so a crash between the two leaves a
 * file that the next start replaces, never a company whose token is lost.
 */
export function createDemo(db: Database, clock: Clock, { baseUrl, file }: DemoOptions): Promise<Demo> {
  return db.transaction(async (transaction) => {
    const demo = demoAt(baseUrl, await fillDemo({ db: transaction, clock }));
    await writeDemo(file, demo);
    return demo;
  });
}

type FoundDemo = { company_id: string; key_id: string; case_id: string; customer_ids: string[] };

/**
 * Replaces the key of the demonstration company, because no copy of its token is left. Changes nothing if the first
 * company may not be the one that the first start created, or if its key was revoked.
 */
function renewDemo(db: Database, clock: Clock, { baseUrl, file }: DemoOptions): Promise<Demo | undefined> {
  return db.transaction(async (transaction) => {
    const admin = { db: transaction, clock };
    const found = await transaction.queryFirst<FoundDemo>(
      sql.findDemo({
        company_name: COMPANY_NAME,
        key_name: KEY_NAME,
        case_reference: CASE_REFERENCE,
        customer_emails: CUSTOMERS.map(({ email }) => email),
        adviser_emails: ADVISERS.map(({ email }) => email),
      }),
    );
    if (!found) return undefined;
    const context = { ...admin, company: await findCompany(admin, found.company_id) };
    await revokeKey(context, found.key_id, readForm(EndCredentialQuery, {}));
    const demo = demoAt(baseUrl, await describeDemo(context, found.case_id, found.customer_ids));
    await writeDemo(file, demo);
    return demo;
  });
}

async function fillDemo(admin: AdminContext): Promise<DemoContent> {
  const settings = { name: COMPANY_NAME, time_zone: TIME_ZONE };
  const { id } = JSON.parse(await createCompany(admin, readForm(CreateCompanyBody, settings)));
  const context = { ...admin, company: await findCompany(admin, id) };
  for (const adviser of ADVISERS) await createAdviser(context, readForm(CreateAdviserBody, adviser));
  await createOwner(context);
  for (const tag of CUSTOM_TAGS) await createCustomTag(context, readForm(CustomTagBody, { tag }));
  const smith = { reference: CASE_REFERENCE, customers: CUSTOMERS };
  const opened: { id: string; customers: { id: string }[] } = JSON.parse(
    await createCase(context, readForm(CreateCaseBody, smith)),
  );
  return describeDemo(
    context,
    opened.id,
    opened.customers.map((customer) => customer.id),
  );
}

/** The owner gets no mail and has no password or passkey: the first start prints a link. */
async function createOwner(context: CompanyContext): Promise<void> {
  const { record } = await createUser(context, readForm(CreateUserBody, OWNER), 'print');
  await context.db.queryRows(
    sql.activateOwner({ company_id: context.company.id, id: JSON.parse(record).id, now: toSql(context.clock()) }),
  );
}

/** Returns the secret of a link that signs the owner in, once, within an hour, on this machine. */
export async function createDemoLink(db: Database, clock: Clock, file: string): Promise<string | undefined> {
  const companyId = await findDemoCompanyId(db, file);
  if (companyId === undefined) return undefined;
  const context = { db, clock, company: await findCompany({ db }, companyId) };
  const owner = await db.queryFirst<{ id: string }>(sql.findOwner({ company_id: companyId, email: OWNER.email }));
  return owner && createLocalLink(context, owner.id);
}

/** Creates a key and returns the content of the file. */
async function describeDemo(context: CompanyContext, caseId: string, customerIds: string[]): Promise<DemoContent> {
  const defaultTags: { tag: string }[] = JSON.parse(
    (await listDefaultTags(context, { limit: 200, offset: 0, search: null })).json,
  );
  return {
    token: JSON.parse(await storeKey(context, { name: KEY_NAME, scopes: COMPANY_SCOPES })).key,
    case_id: caseId,
    time_zone: context.company.timeZone,
    customers: CUSTOMERS.map((customer, i) => ({ id: customerIds[i] as string, ...customer })),
    advisers: ADVISERS.map(({ email, video_provider }) => ({ email, video: video_provider !== null })),
    tags: defaultTags.map(({ tag }) => tag),
    custom_tags: CUSTOM_TAGS,
  };
}
