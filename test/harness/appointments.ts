import assert from 'node:assert/strict';
import { beforeEach } from 'node:test';
import { startApp, type TestCompany } from './app.ts';
import { assertRefused, ok } from './assert.ts';
import { booking } from './bodies.ts';

export const app = await startApp();
export const NOW = '2026-06-01T09:00:00.000000Z';
export const UNKNOWN_ID = '019716a0-0000-7000-8000-000000000000';
export const UPDATE_METHODS = ['PATCH', 'POST'];
export const FLAGS = ['email_confirmation', 'email_notification', 'sms_confirmation', 'sms_notification'];

beforeEach(() => app.clock.set('2026-06-01T09:00:00Z'));

export type Fields = Record<string, unknown>;

export const appointmentsOf = (company: TestCompany) => `${company.path}/appointments`;

export const everything = (company: TestCompany): Fields =>
  booking(company, {
    email_confirmation: true,
    email_notification: true,
    email_recipient: company.customers[0].email,
    sms_confirmation: true,
    sms_notification: true,
    sms_recipient: '07400 123456',
    notes: 'Bring the deeds',
    location: '1 High Street, Anytown',
    video_meeting: false,
  });

/** Books an appointment and returns its path. */
export async function book(company: TestCompany, more: Fields = {}): Promise<string> {
  const { id } = await ok(company.post(appointmentsOf(company), booking(company, more)));
  return `${appointmentsOf(company)}/${id}`;
}

/** None of the twelve operations only reads an appointment, but an update that sends nothing shows it. */
export const read = (company: TestCompany, path: string) => ok(company.patch(path, {}));

export async function booked(company: TestCompany): Promise<number> {
  const sql = 'SELECT count(*)::int AS count FROM appointments WHERE company_id = $1';
  const [row] = await app.sql<{ count: number }>(sql, [company.companyId]);
  return row?.count ?? 0;
}

export async function assertNotBooked(
  company: TestCompany,
  body: Fields,
  faults: Record<string, string>,
): Promise<void> {
  const before = await booked(company);
  assertRefused(await company.post(appointmentsOf(company), body), faults, body);
  assert.equal(await booked(company), before);
}

export async function assertNotUpdated(
  company: TestCompany,
  path: string,
  body: Fields,
  faults: Record<string, string>,
) {
  const before = await read(company, path);
  for (const method of UPDATE_METHODS) assertRefused(await company.send(method, path, body), faults, body);
  assert.deepEqual(await read(company, path), before);
}

/** Sends a value to both operations that take it. */
export async function assertRefusedEverywhere(
  company: TestCompany,
  path: string,
  field: string,
  value: unknown,
  code: string,
) {
  await assertNotBooked(company, booking(company, { [field]: value }), { [field]: code });
  await assertNotUpdated(company, path, { [field]: value }, { [field]: code });
}

export const CHANGES: [
  field: string,
  sent: (company: TestCompany) => unknown,
  shown: (company: TestCompany) => unknown,
][] = [
  ['start_time', () => '2026-06-10 10:30:00', () => '2026-06-10T09:30:00.000000Z'],
  ['end_time', () => '2026-06-10 12:15:00', () => '2026-06-10 12:15:00'],
  ['email_recipient', (company) => company.customers[1].email, (company) => company.customers[1].email],
  ['sms_recipient', () => '020 7946 0018', () => '020 7946 0018'],
  ['notes', () => 'New notes', () => 'New notes'],
  ['location', () => 'New place', () => 'New place'],
];
