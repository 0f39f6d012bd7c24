import assert from 'node:assert/strict';
import { beforeEach } from 'node:test';
import { startApp, type TestCompany } from './app.ts';
import { assertRefused } from './assert.ts';
import { PERSON } from './bodies.ts';
import type { Answer } from './http.ts';

export type Body = Record<string, unknown>;
type Item = { id: string; entity_id: string; data: Body };

export const app = await startApp();

beforeEach(() => app.clock.set('2026-06-01T09:00:00Z'));
export const UNKNOWN_ID = '01890a5d-ac96-774b-bcce-b302099a8057';
export const SPELLINGS = ['address-book', 'address_book'];
export const UPDATE_METHODS = ['PATCH', 'POST'];

export const REQUIRED = Object.keys(PERSON);
export const ADDRESS = { address_1: 'Flat 2', address_2: '1 High Street', address_3: 'Leeds', postcode: 'LS1 2AB' };
export const NO_ADDRESS = { address_1: '', address_2: '', address_3: '', postcode: '' };
export const OPTIONAL = {
  middle_names: 'Mary Ann',
  known_as: 'Janey',
  tel_1: '07400 111222',
  tel_2: '0113 496 0000',
  email: 'jane.doe@client.example',
  gender: 'female',
  dob: '31/01/1970',
  marital_status: 'widowed',
  occupation: 'Baker',
  preferred_name: 'Jay',
  alias: 'J. Dough',
  them_pronoun: 'her',
  they_pronoun: 'she',
  their_pronoun: 'hers',
};
export const CHANGED = {
  middle_names: 'Rose',
  known_as: 'Jan',
  tel_1: '020 7946 0000',
  tel_2: '0131 496 0000',
  email: 'jd@client.example',
  gender: 'other',
  dob: '01/02/1971',
  marital_status: 'married',
  occupation: 'Judge',
  preferred_name: 'Dee',
  alias: 'Doe the Second',
  them_pronoun: 'them',
  they_pronoun: 'they',
  their_pronoun: 'their',
};
export const OPTIONAL_NAMES = Object.keys(OPTIONAL) as (keyof typeof OPTIONAL)[];
export const UNKNOWN_PERSON = {
  ...Object.fromEntries(OPTIONAL_NAMES.map((name) => [name, null])),
  gender: '',
  marital_status: '',
  relationship: {},
  tags: [],
  custom_tags: [],
};

export const bookOf = (caseId: string, spelling = 'address-book') => `/cases/${caseId}/${spelling}`;
export const entries = (company: TestCompany) => `${bookOf(company.caseId)}/entry`;
export const entry = (company: TestCompany, id: string) => `${entries(company)}/${id}`;

export function accepted(answer: Answer) {
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
}

export const create = async (company: TestCompany, body: Body = {}) =>
  accepted(await company.post(entries(company), { ...PERSON, ...body }));
export const update = async (company: TestCompany, id: string, body: Body = {}) =>
  accepted(await company.patch(entry(company, id), { ...PERSON, ...body }));
export const list = async (company: TestCompany, path = bookOf(company.caseId)): Promise<Item[]> =>
  accepted(await company.get(path));

export async function item(company: TestCompany, id: unknown): Promise<Item> {
  const found = (await list(company)).filter((candidate) => candidate.id === id);
  assert.equal(found.length, 1);
  return found[0] as Item;
}

// biome-ignore lint/suspicious/noExplicitAny: a test looks into any data
export const person = async (company: TestCompany, id: string): Promise<any> => (await item(company, id)).data;
export const addressOf = async (company: TestCompany, id: string) =>
  (await item(company, (await person(company, id)).address)).data;
export const idsOf = (items: Item[], kind: string) =>
  items.filter(({ entity_id }) => entity_id === kind).map((candidate) => candidate.id);
export const defaultTags = async () =>
  (await app.sql<{ tag: string }>('SELECT tag FROM default_tags ORDER BY tag')).map(({ tag }) => tag);

/** Sends the body to operations 2 and 3 by both methods. Each answer must satisfy the check, and nothing may change. */
export async function assertNoTrace(
  company: TestCompany,
  body: unknown,
  check: (answer: Answer) => void,
): Promise<void> {
  const full = {
    ...OPTIONAL,
    address: ADDRESS,
    tags: ['witness'],
    relationship: { [company.customers[0].id]: 'Sister' },
  };
  const { id } = await create(company, full);
  const before = await list(company);
  check(await company.post(entries(company), body));
  for (const method of UPDATE_METHODS) check(await company.send(method, entry(company, id), body));
  assert.deepEqual(await list(company), before);
}

export async function assertNeverTaken(
  company: TestCompany,
  change: Body,
  faults: Record<string, string>,
): Promise<void> {
  await assertNoTrace(company, { ...PERSON, ...change }, (answer) => assertRefused(answer, faults));
}
