import { startApp, type TestCompany } from './app.ts';
import { ok } from './assert.ts';
import { assertTyped } from './events.ts';
import type { Caller } from './http.ts';
import { secrets } from './meeting-worker.ts';
import { CREDENTIALS } from './zoom.ts';

/** What the audit log records of the company itself, its advisers, cases, customers, tags, clients and keys. */

export const app = await startApp({ secrets });
export const UNKNOWN = '0198c0de-0000-7000-8000-000000000000';
export const ZOOM = { provider: 'zoom', ...CREDENTIALS };

export type Image = Record<string, unknown>;
export type Event = {
  id: string;
  type: string;
  actor: Image;
  request_id: string | null;
  case_id: string | null;
  record: { type: string; id: string };
  changed: string[] | null;
  before: Image | null;
  after: Image | null;
};

export async function historyOf(company: Caller, path: string): Promise<Event[]> {
  const events = await ok(company.get(`${path}/history?limit=500`));
  assertTyped(events);
  return events;
}

export async function adviserOf(company: TestCompany): Promise<string> {
  const [{ id }] = await ok(company.get(`/manage/advisers?search=${company.adviser}`));
  return `/manage/advisers/${id}`;
}
export const customerOf = ({ caseId, customers }: TestCompany) =>
  `/manage/cases/${caseId}/customers/${customers[0].id}`;
export const caseOf = ({ caseId }: TestCompany) => `/manage/cases/${caseId}`;
export const made = (list: string, body: unknown) => async (company: TestCompany) =>
  `${list}/${(await ok(company.post(list, body))).id}`;
export const clientOf = made('/manage/clients', { name: 'website', scopes: ['invoices:read'] });
export const kindOf = made('/manage/case-kinds', { name: 'Wills' });
export const otherKeyOf = made('/manage/keys', { name: 'export', scopes: ['invoices:read'] });
/** Makes a record and sends a request to a path below it first. */
export const after =
  (path: (company: TestCompany) => Promise<string> | string, method: string, below = '', body?: unknown) =>
  async (company: TestCompany) => {
    const found = await path(company);
    await ok(company.send(method, `${found}${below}`, body));
    return found;
  };

export const companyPath = () => '/manage/company';
export const ALPHA = { name: 'alpha', scopes: ['invoices:read'] };
