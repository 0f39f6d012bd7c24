import assert from 'node:assert/strict';
import { beforeEach } from 'node:test';
import { startApp, type TestCompany } from './app.ts';
import { assertRefused } from './assert.ts';
import type { Answer } from './http.ts';

export type Body = Record<string, unknown>;

export const app = await startApp();

beforeEach(() => app.clock.set('2026-06-01T09:00:00Z'));
export const FULL = {
  type: 'email',
  notes: 'Sent the draft will',
  when: '2026-05-20 10:15:30',
  sender: 'Alex Adviser',
  recipient: 'John Smith',
};
export const UPDATE_METHODS = ['PATCH', 'POST'];

export const ofCase = (caseId: string) => `/cases/${caseId}/interactions`;
export const all = (company: TestCompany) => ofCase(company.caseId);
export const one = (company: TestCompany, id: string) => `${all(company)}/${id}`;

export function accepted(answer: Answer) {
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
}

export const create = async (company: TestCompany, body: Body) => accepted(await company.post(all(company), body));
export const update = async (company: TestCompany, id: string, body: Body) =>
  accepted(await company.patch(one(company, id), body));
export const list = async (company: TestCompany, path = all(company)) => accepted(await company.get(path));

export async function listed(company: TestCompany, id: string) {
  const found = (await list(company)).filter((interaction: Body) => interaction.id === id);
  assert.equal(found.length, 1);
  return found[0];
}

/** Sends the body to operations 5 and 6 by both methods. Each must be refused and change nothing. */
export async function assertNeverTaken(
  body: unknown,
  faults: Record<string, string>,
  company?: TestCompany,
): Promise<void> {
  const owner = company ?? (await app.company());
  const { id } = await create(owner, FULL);
  const before = await list(owner);
  assertRefused(await owner.post(all(owner), body), faults);
  for (const method of UPDATE_METHODS) assertRefused(await owner.send(method, one(owner, id), body), faults);
  assert.deepEqual(await list(owner), before);
}
