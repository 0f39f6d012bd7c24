import type pg from 'pg';
import { pino } from 'pino';
import { keepInvoiceSums } from '../../src/cases/invoices/sums/keeping.ts';
import { Database } from '../../src/kernel/database/database.ts';
import { systemClock } from '../../src/kernel/time/time.ts';
import { type CompanyRequest, compareSizes } from './turns.ts';

/** Measures the lists of a large company, and of the same company with a hundredth of the records, in turns. */

/** The same case of a few records in both databases costs the same, whatever the size of the company. */
const ofCase =
  (path: (caseId: string) => string) =>
  async (client: pg.Client, companyId: string): Promise<string> => {
    const { rows } = await client.query(
      `SELECT case_id FROM interactions WHERE company_id = $1 GROUP BY case_id HAVING count(*) = 10
        ORDER BY case_id LIMIT 1`,
      [companyId],
    );
    return path(rows[0].case_id);
  };

const ofFirst =
  (table: 'case_kinds' | 'advisers', path: (id: string) => string) =>
  async (client: pg.Client, companyId: string): Promise<string> => {
    const { rows } = await client.query(`SELECT id FROM ${table} WHERE company_id = $1 ORDER BY id LIMIT 1`, [
      companyId,
    ]);
    return path(rows[0].id);
  };

/** A year in the middle of the data. At a hundredth of it, each list has a page of it too. */
const YEAR = { from: '2023-05-01%2000:00', to: '2024-05-01%2000:00' };
const DUE = `due_from=${YEAR.from}&due_to=${YEAR.to}`;

const LISTS: Readonly<Record<string, CompanyRequest['path']>> = {
  cases: '/cases?limit=20',
  'cases by last update': '/cases?sort=-updated_at&limit=20',
  'cases, oldest first': '/cases?sort=opened_at&limit=20',
  'open cases': '/cases?state=open&limit=20',
  'cases of a kind': ofFirst('case_kinds', (id) => `/cases?kind_id=${id}&limit=20`),
  'cases of an adviser': ofFirst('advisers', (id) => `/cases?responsible_adviser_id=${id}&limit=20`),
  interactions: '/interactions',
  'interactions, oldest first': '/interactions?sort=when',
  'interactions of a type': '/interactions?type=letter',
  'interactions of a year': `/interactions?from=${YEAR.from}&to=${YEAR.to}`,
  'interactions by external id': '/interactions?external_id=nobody',
  invoices: '/invoices',
  'invoices by creation': '/invoices?sort=-date_created',
  'invoices in part paid': '/invoices?status=Part%20Paid&limit=20',
  'open invoices': '/invoices?open=true',
  'overdue invoices': '/invoices?overdue=true&sort=date_due',
  'invoices due in a year': `/invoices?${DUE}`,
  'invoices due in a year by creation': `/invoices?${DUE}&sort=-date_created`,
  appointments: '/appointments',
  'appointments of a year': `/appointments?from=${YEAR.from}&to=${YEAR.to}`,
  'appointments, cancelled': '/appointments?outcome=cancelled&sort=-start_time',
  'appointments of an adviser': '/appointments?adviser_email=adviser-3@company.example&limit=20',
  'appointments of an adviser, cancelled':
    '/appointments?adviser_email=adviser-3@company.example&outcome=cancelled&limit=2',
  'address book': '/address-book',
  'address book backwards': '/address-book?sort=-name',
  'address book by name': '/address-book?name=smi',
  'address book by email': '/address-book?email=john.&limit=10',
  'address book by phone': '/address-book?phone=07400%20123456',
  'address book by tag': '/address-book?tag=vip-client',
  'sums of invoices': '/invoices/sums',
  'sums of invoices due in a year': `/invoices/sums?${DUE}`,
  'a case': ofCase((id) => `/cases/${id}`),
  'timeline of a case': ofCase((id) => `/cases/${id}/timeline`),
};

await compareSizes({
  title: 'List',
  requests: Object.fromEntries(Object.entries(LISTS).map(([name, path]) => [name, { path }])),
  // What a worker does, which the services of the bench lack.
  async prepare(connection) {
    const db = new Database({ connection, poolSize: 1 });
    await keepInvoiceSums({ db, clock: systemClock, logger: pino({ level: 'silent' }) });
    await db.close();
  },
});
