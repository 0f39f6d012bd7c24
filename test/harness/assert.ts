import assert from 'node:assert/strict';
import type { TestApp, TestCompany } from './app.ts';
import type { Answer } from './http.ts';

/** Codes by field, as in `{ email: 'format', 'items[0].rate': 'required' }`. */
export type Faults = Record<string, string>;

/** The body of an answer that must have the status 200. */
// biome-ignore lint/suspicious/noExplicitAny: a test looks into any answer
export async function ok(answer: Promise<Answer>): Promise<any> {
  const { status, body, text } = await answer;
  assert.equal(status, 200, text);
  return body;
}

const FAULT_CODES = [
  ...['required', 'type', 'format', 'not_allowed', 'too_short', 'too_long', 'too_many', 'out_of_range'],
  ...['invalid_character', 'unknown', 'taken', 'duplicate', 'not_after_start', 'invalid_state'],
];

/** Fails unless the answer is a problem (RFC 9457) with this status and code. `about` is named in the failure. */
export function assertProblem(answer: Answer, status: number, code: string, about: unknown = ''): void {
  const { headers, body, text } = answer;
  const message = `${JSON.stringify(about)?.slice(0, 200)}: ${text}`;
  assert.equal(answer.status, status, message);
  assert.match(String(headers['content-type']), /^application\/problem\+json(;|$)/, message);
  const members = ['code', 'detail', ...(status === 400 ? ['errors'] : []), 'request_id', 'status', 'title', 'type'];
  assert.deepEqual(Object.keys(body).sort(), members, message);
  assert.deepEqual([body.code, body.status, body.request_id], [code, status, headers['x-request-id']], message);
  for (const member of ['type', 'title', 'detail']) assert.ok(body[member], message);
  for (const fault of body.errors ?? []) {
    assert.deepEqual(Object.keys(fault).sort(), ['code', 'field', 'message'], message);
    assert.ok(FAULT_CODES.includes(fault.code) && fault.field && fault.message, message);
  }
  assert.doesNotMatch(text, /<html|<!doctype|node_modules|\.[jt]s:\d|FST_|\n\s+at /i);
}

/** Fails unless the answer is 400 with exactly these faults, in any order. */
export function assertRefused(answer: Answer, faults: Faults, about: unknown = ''): void {
  assertProblem(answer, 400, 'invalid_request', about);
  const found = answer.body.errors.map(({ field, code }: { field: string; code: string }) => [field, code]);
  assert.deepEqual(found.sort(), Object.entries(faults).sort(), `${JSON.stringify(about)}: ${answer.text}`);
}

/** Like `assertRefused`, for the promise of an answer. */
export async function refused(answer: Promise<Answer>, faults: Faults): Promise<Answer> {
  assertRefused(await answer, faults);
  return answer;
}

export const assertNotFound = (answer: Answer): void => assertProblem(answer, 404, 'not_found');

/** All rows of the company in these tables. */
export const storedRows = (app: TestApp, { companyId }: TestCompany, ...tables: string[]): Promise<unknown[][]> =>
  Promise.all(tables.map((table) => app.sql(`SELECT * FROM ${table} WHERE company_id = $1 ORDER BY id`, [companyId])));
