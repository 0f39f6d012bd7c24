import type pg from 'pg';
import { CUSTOMER, type SeededCompany } from './seed.ts';

/** The records that the measured requests address, read from the database after it has been seeded. */

export type DatasetCase = { id: string; token: string; customer: string };
/** A record, with the index of its case in `writeCases`. */
export type DatasetRecord = { caseIndex: number; id: string };

export type Dataset = {
  /** Cases that are only read, so that their lists are the same in every round. */
  readCases: DatasetCase[];
  /** Cases that are written to. The records below belong to them. */
  writeCases: DatasetCase[];
  people: DatasetRecord[];
  interactions: DatasetRecord[];
  /** Unpaid invoices only: the responses to two updates of a paid one would differ in the date. */
  invoices: (DatasetRecord & { number: string })[];
  appointments: DatasetRecord[];
};

export type RecordKind = 'people' | 'interactions' | 'invoices' | 'appointments';
const RECORD_KINDS: readonly RecordKind[] = ['people', 'interactions', 'invoices', 'appointments'];

/** Enough that concurrent requests rarely address the same record and that the records do not all stay in cache. */
const MAX_RECORDS = 20_000;

/** Reads the dataset of the cases in `caseIds`, or of all cases. */
export async function readDataset(client: pg.Client, companies: SeededCompany[], caseIds?: string[]): Promise<Dataset> {
  const tokens = new Map(companies.map(({ id, token }) => [id, token]));
  const { rows } = await client.query<{ id: string; company_id: string; customer: string }>(
    `SELECT c.id, c.company_id, u.id AS customer
       FROM cases c JOIN customers u ON u.company_id = c.company_id AND u.case_id = c.id
      WHERE u.email = '${CUSTOMER}' AND ($1::uuid[] IS NULL OR c.id = ANY ($1)) ORDER BY c.id`,
    [caseIds],
  );
  const cases = rows.map(({ id, company_id, customer }) => ({ id, customer, token: tokens.get(company_id) ?? '' }));
  const half = Math.ceil(cases.length / 2);
  const writing = cases.slice(half);
  const indexById = new Map(writing.map(({ id }, i) => [id, i]));
  const records = async <T>(table: string, extraColumns = '', condition = 'true'): Promise<(DatasetRecord & T)[]> => {
    const result = await client.query<T & { id: string; case_id: string }>(
      `SELECT id, case_id ${extraColumns} FROM ${table} WHERE case_id = ANY ($1) AND ${condition}
        ORDER BY md5(id::text) LIMIT ${MAX_RECORDS}`,
      [[...indexById.keys()]],
    );
    return result.rows.map(({ case_id, ...row }) => ({
      ...(row as T & { id: string }),
      caseIndex: indexById.get(case_id) ?? 0,
    }));
  };
  return {
    readCases: cases.slice(0, half),
    writeCases: writing,
    people: await records('people'),
    interactions: await records('interactions'),
    invoices: await records<{ number: string }>('invoices', ', invoice_number AS number', 'paid = 0'),
    appointments: await records('appointments'),
  };
}

/**
 * Splits the records of a dataset in two. Requests with If-Match have records of their own, because a write by another
 * server or in another form would change the tag that the load generator knows.
 */
export function splitRecords(dataset: Dataset): [Dataset, Dataset] {
  const half = (parity: number): Dataset => ({
    ...dataset,
    ...Object.fromEntries(
      RECORD_KINDS.map((kind) => [kind, (dataset[kind] as DatasetRecord[]).filter((_record, i) => i % 2 === parity)]),
    ),
  });
  return [half(0), half(1)];
}

/**
 * Restores deleted appointments and their reminders, so that every round of deletes finds the same records. What that
 * leaves behind in tables and indexes is removed here, and not by the deletes that are measured.
 */
export async function restoreAppointments(client: pg.Client): Promise<void> {
  // With outdated statistics the planner has chosen a plan that took minutes.
  await client.query('ANALYZE appointments, messages');
  await client.query(
    `WITH a AS (
       UPDATE appointments SET deleted_at = NULL WHERE deleted_at IS NOT NULL RETURNING *
     )
     UPDATE messages m SET state = 'scheduled' FROM a
      WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id
        AND m.start_at = a.start_at AND m.state = 'cancelled'`,
  );
  await client.query('VACUUM (INDEX_CLEANUP ON) appointments, messages');
}
