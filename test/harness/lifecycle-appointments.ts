import assert from 'node:assert/strict';
import { beforeEach } from 'node:test';
import { startApp, type TestCompany } from './app.ts';
import { assertRefused, ok, storedRows } from './assert.ts';
import { booking } from './bodies.ts';
import type { Answer, Caller } from './http.ts';

export const app = await startApp();

beforeEach(() => app.clock.set('2026-06-01T09:00:00Z'));
export const UPDATE_METHODS = ['PATCH', 'POST'];

export type Fields = Record<string, unknown>;

export const listOf = (company: TestCompany) => `${company.path}/appointments`;

export const withRecipients = (company: TestCompany, fields: Fields = {}): Fields =>
  booking(company, { email_recipient: company.customers[0].email, sms_recipient: '07400 123456', ...fields });
export const onDay = (day: string) => ({ start_time: `${day} 10:00:00`, end_time: `${day} 11:00:00` });
export const REMINDERS = { email_notification: true, sms_notification: true };
export const EVERY_MESSAGE = { ...REMINDERS, email_confirmation: true, sms_confirmation: true };

/** Books an appointment and returns its path. */
export const book = async (company: TestCompany, fields: Fields = {}, list = listOf(company)): Promise<string> =>
  `${list}/${(await ok(company.post(list, withRecipients(company, fields)))).id}`;

/** The start of `booking`. An outcome cannot say "attended" before it. */
export const START = '2026-06-10T09:00:00Z';

export const outcome = (company: Caller, path: string, body: unknown) => company.patch(`${path}/outcome`, body);

/** The states of confirmation and reminder, which must be the same on both channels. */
export function words(appointment: Fields): unknown[] {
  const of = (channel: string) => [
    appointment[`${channel}_confirmation`],
    appointment[`${channel}_notification`],
    appointment[`${channel}_day_before`],
  ];
  assert.deepEqual(of('sms'), of('email'));
  return of('email');
}

export const messages = (company: TestCompany) =>
  app.sql<{ kind: string; state: string; due_at: Date }>(
    `SELECT kind, state, due_at FROM messages WHERE company_id = $1 AND channel = 'email' ORDER BY kind, start_at, id`,
    [company.companyId],
  );
export const scheduled = async (company: TestCompany) =>
  (await messages(company)).filter(({ state }) => state === 'scheduled').map(({ kind, due_at }) => [kind, due_at]);

export const sendOut = (company: TestCompany, kind: string) =>
  app.sql(`UPDATE messages SET state = 'sent' WHERE company_id = $1 AND kind = $2`, [company.companyId, kind]);

export const stored = (company: TestCompany) => storedRows(app, company, 'appointments', 'messages');

export async function assertRefusedUnchanged(
  company: TestCompany,
  request: () => Promise<Answer>,
  faults: Record<string, string>,
) {
  const before = await stored(company);
  assertRefused(await request(), faults);
  assert.deepEqual(await stored(company), before);
}
