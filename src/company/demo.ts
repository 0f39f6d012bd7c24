import { readFile, rename, writeFile } from 'node:fs/promises';
import type { Database } from '../kernel/database.ts';
import type { Clock } from '../kernel/time.ts';
import {
  addAdviser,
  addCustomer,
  addCustomTag,
  createCompany,
  defaultTags,
  hasCompanies,
  type Office,
  openCase,
} from './company.ts';
import { createToken } from './credentials.ts';

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
  { email: 'vera.video@demo.example', name: 'Vera Video', videoProvider: 'jitsi' },
  { email: 'paul.phone@demo.example', name: 'Paul Phone', videoProvider: null },
];
const CUSTOMERS = [
  { title: 'Mr', first_names: 'John', last_name: 'Smith', email: 'john.smith@client.example', phone: '+447400123456' },
  { title: 'Mrs', first_names: 'Ann', last_name: 'Smith', email: 'ann.smith@client.example', phone: '+447400654321' },
];
const CUSTOM_TAGS = ['vip-client', 'newsletter'];

/**
 * A company to try everything with, while there is none at all. The file is written before the company is committed:
 * an end between the two leaves a file that the next start replaces, never a company whose token nobody knows.
 */
export async function createDemo(
  db: Database,
  clock: Clock,
  options: { baseUrl: string; scopes: readonly string[]; file: string },
): Promise<Demo | undefined> {
  if (await hasCompanies({ db })) return undefined;
  return db.transaction(async (transaction) => {
    const demo = { base_url: options.baseUrl, ...(await fillDemo({ db: transaction, clock }, options.scopes)) };
    await writeDemo(options.file, demo);
    return demo;
  });
}

/** The service may listen elsewhere than at the start that made the file. */
export async function refreshDemo(file: string, baseUrl: string): Promise<void> {
  const text = await readFile(file, 'utf8').catch(() => undefined);
  const demo: Demo | undefined = text && JSON.parse(text);
  if (demo && demo.base_url !== baseUrl) await writeDemo(file, { ...demo, base_url: baseUrl });
}

async function fillDemo(office: Office, scopes: readonly string[]): Promise<Omit<Demo, 'base_url'>> {
  const companyId = await createCompany(office, { name: 'Demonstration & Partners', timeZone: TIME_ZONE });
  for (const adviser of ADVISERS) await addAdviser(office, companyId, adviser);
  for (const tag of CUSTOM_TAGS) await addCustomTag(office, companyId, tag);
  const caseId = await openCase(office, companyId, 'Smith, wills');
  const customers = [];
  for (const customer of CUSTOMERS) {
    const { title, first_names: firstNames, last_name: lastName, email, phone } = customer;
    const id = await addCustomer(office, companyId, caseId, { title, firstNames, lastName, email, phone });
    customers.push({ id, ...customer });
  }
  return {
    token: await createToken(office, { companyId, name: 'demonstration', scopes }),
    case_id: caseId,
    time_zone: TIME_ZONE,
    customers,
    advisers: ADVISERS.map(({ email, videoProvider }) => ({ email, video: videoProvider !== null })),
    tags: await defaultTags(office),
    custom_tags: CUSTOM_TAGS,
  };
}

/** Whole or not at all, and readable by its owner only: it holds a token. */
async function writeDemo(file: string, demo: Demo): Promise<void> {
  await writeFile(`${file}.new`, `${JSON.stringify(demo, null, 2)}\n`, { mode: 0o600 });
  await rename(`${file}.new`, file);
}
