import type pg from 'pg';
import { CUSTOMER, type FilledCompany } from './fill.ts';

/** What the requests are about: picked from by the load, read from the database once it is filled. */

export type WorldCase = { id: string; token: string; customer: string };
/** The place of its case in the list, and its identifier. */
export type WorldRecord = { case: number; id: string };

export type World = {
  /** What is only ever read: its lists are the same in every round. */
  reading: WorldCase[];
  /** What is written to. The records below are in these. */
  writing: WorldCase[];
  people: WorldRecord[];
  interactions: WorldRecord[];
  /** Not the paid ones: the answers of two updates would differ by the date. */
  invoices: (WorldRecord & { number: string })[];
  appointments: WorldRecord[];
};

/** Enough that two requests under way seldom meet at one record, and that the database has to look for it. */
const MOST = 20_000;

/** Of the cases that are named, or of all. */
export async function readWorld(client: pg.Client, companies: FilledCompany[], only?: string[]): Promise<World> {
  const tokens = new Map(companies.map(({ id, token }) => [id, token]));
  const { rows } = await client.query<{ id: string; company_id: string; customer: string }>(
    `SELECT c.id, c.company_id, u.id AS customer
       FROM cases c JOIN customers u ON u.company_id = c.company_id AND u.case_id = c.id
      WHERE u.email = '${CUSTOMER}' AND ($1::uuid[] IS NULL OR c.id = ANY ($1)) ORDER BY c.id`,
    [only],
  );
  const cases = rows.map(({ id, company_id, customer }) => ({ id, customer, token: tokens.get(company_id) ?? '' }));
  const half = Math.ceil(cases.length / 2);
  const writing = cases.slice(half);
  const places = new Map(writing.map(({ id }, i) => [id, i]));
  const records = async <T>(table: string, more = '', condition = 'true'): Promise<(WorldRecord & T)[]> => {
    const found = await client.query<T & { id: string; case_id: string }>(
      `SELECT id, case_id ${more} FROM ${table} WHERE case_id = ANY ($1) AND ${condition} ORDER BY md5(id::text) LIMIT ${MOST}`,
      [[...places.keys()]],
    );
    return found.rows.map(({ case_id, ...row }) => ({
      ...(row as T & { id: string }),
      case: places.get(case_id) ?? 0,
    }));
  };
  return {
    reading: cases.slice(0, half),
    writing,
    people: await records('people'),
    interactions: await records('interactions'),
    invoices: await records<{ number: string }>('invoices', ', invoice_number AS number', 'paid = 0'),
    appointments: await records('appointments'),
  };
}

/** Brings back what was deleted, with its reminders, so that every round of deletes finds the same. */
export async function restoreAppointments(client: pg.Client): Promise<void> {
  // Without knowing how many there are by now, the planner has been seen to take minutes.
  await client.query('ANALYZE appointments, messages');
  await client.query(
    `WITH a AS (
       UPDATE appointments SET deleted_at = NULL WHERE deleted_at IS NOT NULL RETURNING *
     )
     UPDATE messages m SET state = 'scheduled' FROM a
      WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id
        AND m.start_at = a.start_at AND m.state = 'cancelled'`,
  );
}
