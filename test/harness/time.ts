import assert from 'node:assert/strict';
import fc from 'fast-check';
import { startApp, type TestCompany } from './app.ts';
import type { Answer } from './http.ts';

export const app = await startApp();

export const ISO = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{6}Z$/;
const WALL = /^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}$/;

export type Fields = Record<string, unknown>;
export type Resource = 'interactions' | 'invoices' | 'appointments';

let numbers = 0;

/** Complete bodies. The appointment is long enough for any start or end in these tests. */
export const BODIES: Record<Resource, (company: TestCompany) => Fields> = {
  interactions: () => ({ type: 'phone' }),
  invoices: () => {
    numbers += 1;
    return {
      invoice_number: `INV-${numbers}`,
      sender_id: '5f0c1c62-5d3b-4a64-9a0e-0d3a1c2b4e5f',
      date_created: '2026-05-01 10:00:00',
      date_due: '2026-05-31 10:00:00',
      vat: 20,
      total: 120,
      sub_total: 100,
    };
  },
  appointments: (company) => ({
    adviser_email: company.adviser,
    start_time: '1500-01-01 00:00:00',
    end_time: '2900-01-01 00:00:00',
  }),
};

/** Every time of day that a body can hold, and how the answers to writes show it. */
export const TIMES = [
  { field: 'when', resource: 'interactions', shown: ISO },
  { field: 'date_created', resource: 'invoices', shown: ISO },
  { field: 'date_due', resource: 'invoices', shown: ISO },
  { field: 'start_time', resource: 'appointments', shown: ISO },
  { field: 'end_time', resource: 'appointments', shown: WALL },
] as const;

export type Time = (typeof TIMES)[number];

export const create = (company: TestCompany, { resource }: { resource: Resource }, fields: Fields) =>
  company.post(`${company.path}/${resource}`, { ...BODIES[resource](company), ...fields });

export const update = (company: TestCompany, { resource }: { resource: Resource }, id: string, fields: Fields) =>
  company.patch(`${company.path}/${resource}/${id}`, { ...BODIES[resource](company), ...fields });

export async function created(
  company: TestCompany,
  of: { resource: Resource },
  fields: Fields = {},
): Promise<Fields & { id: string }> {
  const answer = await create(company, of, fields);
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
}

/** The stored instant, because no operation shows that of end_time. */
export async function instantOf({ field, shown }: Time, answer: Answer): Promise<string> {
  assert.equal(answer.status, 200, answer.text);
  assert.match(answer.body[field], shown);
  if (shown === ISO) return answer.body[field];
  const [row] = await app.sql<{ at: string }>(
    `SELECT to_char(end_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS at FROM appointments WHERE id = $1`,
    [answer.body.id],
  );
  return row?.at ?? 'absent';
}

export async function rows(company: TestCompany, resource: Resource): Promise<unknown[]> {
  return app.sql(`SELECT * FROM ${resource} WHERE company_id = $1 ORDER BY id`, [company.companyId]);
}

export const second = (from: string, to: string) =>
  fc
    .integer({
      min: Temporal.Instant.from(from).epochMilliseconds / 1000,
      max: Temporal.Instant.from(to).epochMilliseconds / 1000,
    })
    .map((seconds) => Temporal.Instant.fromEpochMilliseconds(seconds * 1000));
