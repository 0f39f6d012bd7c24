import assert from 'node:assert/strict';
import { beforeEach } from 'node:test';
import { startApp, type TestCompany } from './app.ts';
import { ok } from './assert.ts';

export const app = await startApp();

beforeEach(() => app.clock.set('2026-06-01T09:00:00Z'));

export type Fields = Record<string, unknown>;
type Message = { channel: string; kind: string; state: string; start: string; due: string };
type Channel = (typeof CHANNELS)[number];
export type Kind = 'confirmation' | 'reminder';

export const CHANNELS = ['email', 'sms'] as const;
export const MESSAGES: [flag: string, channel: Channel, kind: Kind][] = [
  ['email_confirmation', 'email', 'confirmation'],
  ['email_notification', 'email', 'reminder'],
  ['sms_confirmation', 'sms', 'confirmation'],
  ['sms_notification', 'sms', 'reminder'],
];
export const REMINDERS = MESSAGES.filter(([, , kind]) => kind === 'reminder');
export const ALL_FLAGS = Object.fromEntries(MESSAGES.map(([flag]) => [flag, true]));

export const recipients = (company: TestCompany) => ({
  email_recipient: company.customers[0].email,
  sms_recipient: '07400 123456',
});

/** Books an appointment, by default on 10 June at 10:00 wall time for an hour. */
export async function book(company: TestCompany, more: Fields = {}) {
  const times = { start_time: '2026-06-10 10:00:00', end_time: '2026-06-10 11:00:00' };
  const answer = await ok(
    company.post(`${company.path}/appointments`, { adviser_email: company.adviser, ...times, ...more }),
  );
  const path = `${company.path}/appointments/${answer.id}`;
  return {
    id: answer.id as string,
    path,
    answer,
    update: (body: Fields) => ok(company.patch(path, body)),
    move: (start_time: string, more: Fields = {}) =>
      ok(company.patch(path, { start_time, end_time: hourAfter(start_time), ...more })),
    /** None of the twelve operations only reads an appointment, but an update that sends nothing shows it. */
    read: () => ok(company.patch(path, {})),
  };
}

export type Appointment = Awaited<ReturnType<typeof book>>;

export const at = (start_time: string) => ({ start_time, end_time: hourAfter(start_time) });

function hourAfter(time: string): string {
  if (time.endsWith('Z')) return Temporal.Instant.from(time).add({ hours: 1 }).toString();
  const end = Temporal.PlainDateTime.from(time.replace(' ', 'T')).toZonedDateTime('Europe/London').add({ hours: 1 });
  return end.toInstant().toString();
}

export function messages({ id }: Appointment): Promise<Message[]> {
  const utc = (column: string) => `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')`;
  return app.sql<Message>(
    `SELECT channel, kind, state, ${utc('start_at')} AS start, ${utc('due_at')} AS due
     FROM messages WHERE appointment_id = $1 ORDER BY channel, kind, created_at, id`,
    [id],
  );
}

export async function states(appointment: Appointment, channel: Channel, kind: Kind): Promise<string[]> {
  const all = await messages(appointment);
  return all.filter((one) => one.channel === channel && one.kind === kind).map(({ state }) => state);
}

export async function scheduled(appointment: Appointment, channel?: Channel, kind?: Kind): Promise<Message[]> {
  const all = await messages(appointment);
  return all.filter(
    (one) => one.state === 'scheduled' && one.channel === (channel ?? one.channel) && one.kind === (kind ?? one.kind),
  );
}

/** When the one waiting message is due. Fails if there is none or more than one. */
export async function due(
  appointment: Appointment,
  channel: Channel = 'email',
  kind: Kind = 'reminder',
): Promise<string> {
  const waiting = await scheduled(appointment, channel, kind);
  assert.equal(waiting.length, 1, JSON.stringify(waiting));
  return waiting[0]?.due ?? '';
}

/** Every column of every row. An update that sends nothing must not change them. */
const rows = ({ id }: Appointment) => app.sql('SELECT * FROM messages WHERE appointment_id = $1 ORDER BY id', [id]);

export async function assertUntouched(appointment: Appointment, act: () => Promise<unknown>): Promise<void> {
  const before = await rows(appointment);
  assert.notEqual(before.length, 0);
  await act();
  assert.deepEqual(await rows(appointment), before);
}

/** Marks the waiting messages as sent, because no worker runs in these tests. */
export async function deliver({ id }: Appointment, state: 'sent' | 'failed' = 'sent', kind = '%'): Promise<void> {
  const sql = `UPDATE messages SET state = $2 WHERE appointment_id = $1 AND state = 'scheduled' AND kind LIKE $3`;
  await app.sql(sql, [id, state, kind]);
}

export async function setLeadDays(company: TestCompany, days: number): Promise<void> {
  await app.sql('UPDATE companies SET reminder_lead_days = $2 WHERE id = $1', [company.companyId, days]);
  app.clock.advance({ seconds: 3 });
}
