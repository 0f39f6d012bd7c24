import { readFile, rename, writeFile } from 'node:fs/promises';
import type { Database } from '../kernel/database.ts';
import { readForm } from '../kernel/form.ts';
import { COMPANY_SCOPES } from '../kernel/scopes.ts';
import type { Clock } from '../kernel/time.ts';
import { CreateAdviserBody } from './advisers/advisers.schema.ts';
import { createAdviser } from './advisers/advisers.ts';
import { CreateCaseBody } from './cases/cases.schema.ts';
import { openCase } from './cases/cases.ts';
import { CreateCompanyBody } from './companies/companies.schema.ts';
import { createCompany, hasCompanies } from './companies/companies.ts';
import { findCompany } from './company.ts';
import { storeKey } from './credentials/keys.ts';
import type { Office } from './office.ts';
import { CustomTagBody } from './tags/tags.schema.ts';
import { addCustomTag, listDefaultTags } from './tags/tags.ts';

export type Demo = {
  base_url: string;
  token: string;
  case_id: string;
  time_zone: string;
  customers: { id: string; title: string; first_names: string; last_name: string; email: string; phone: string }[];
  advisers: { email: string; video: boolean }[];
  tags: string[];
  custom_tags: string[];
};

const TIME_ZONE = 'Europe/London';
const ADVISERS = [
  { email: 'vera.video@demo.example', name: 'Vera Video', video_provider: 'jitsi' },
  { email: 'paul.phone@demo.example', name: 'Paul Phone', video_provider: null },
];
const CUSTOMERS = [
  { title: 'Mr', first_names: 'John', last_name: 'Smith', email: 'john.smith@client.example', phone: '+447400123456' },
  { title: 'Mrs', first_names: 'Ann', last_name: 'Smith', email: 'ann.smith@client.example', phone: '+447400654321' },
];
const CUSTOM_TAGS = ['vip-client', 'newsletter'];

type DemoOptions = { baseUrl: string; file: string };

/** For a first start: a demonstration company while there is no company at all. */
export async function createFirstDemo(db: Database, clock: Clock, options: DemoOptions): Promise<Demo | undefined> {
  return (await hasCompanies({ db })) ? undefined : createDemo(db, clock, options);
}

/**
 * A company to try everything with. The file is written before the company is committed: an end between the two
 * leaves a file that the next start replaces, never a company whose token nobody knows.
 */
export function createDemo(db: Database, clock: Clock, { baseUrl, file }: DemoOptions): Promise<Demo> {
  return db.transaction(async (transaction) => {
    const demo = { base_url: baseUrl, ...(await fillDemo({ db: transaction, clock })) };
    await writeDemo(file, demo);
    return demo;
  });
}

/** The service may listen elsewhere than at the start that made the file. */
export async function refreshDemo(file: string, baseUrl: string): Promise<void> {
  const text = await readFile(file, 'utf8').catch(() => undefined);
  const demo: Demo | undefined = text && JSON.parse(text);
  if (demo && demo.base_url !== baseUrl) await writeDemo(file, { ...demo, base_url: baseUrl });
}

async function fillDemo(office: Office): Promise<Omit<Demo, 'base_url'>> {
  const settings = { name: 'Demonstration & Partners', time_zone: TIME_ZONE };
  const { id } = JSON.parse(await createCompany(office, readForm(CreateCompanyBody, settings)));
  const desk = { ...office, company: await findCompany(office, id) };
  for (const adviser of ADVISERS) await createAdviser(desk, readForm(CreateAdviserBody, adviser));
  for (const tag of CUSTOM_TAGS) await addCustomTag(desk, readForm(CustomTagBody, { tag }));
  const smith = { reference: 'Smith, wills', customers: CUSTOMERS };
  const opened = JSON.parse(await openCase(desk, readForm(CreateCaseBody, smith)));
  const defaultTags: { tag: string }[] = JSON.parse(
    (await listDefaultTags(office, { limit: 200, offset: 0, search: null })).json,
  );
  return {
    token: JSON.parse(await storeKey(desk, { name: 'demonstration', scopes: COMPANY_SCOPES })).key,
    case_id: opened.id,
    time_zone: TIME_ZONE,
    customers: CUSTOMERS.map((customer, i) => ({ id: opened.customers[i].id, ...customer })),
    advisers: ADVISERS.map(({ email, video_provider }) => ({ email, video: video_provider !== null })),
    tags: defaultTags.map(({ tag }) => tag),
    custom_tags: CUSTOM_TAGS,
  };
}

/** Whole or not at all, and readable by its owner only: it holds a token. */
async function writeDemo(file: string, demo: Demo): Promise<void> {
  await writeFile(`${file}.new`, `${JSON.stringify(demo, null, 2)}\n`, { mode: 0o600 });
  await rename(`${file}.new`, file);
}
