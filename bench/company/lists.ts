import { pino } from 'pino';
import { keepInvoiceSums } from '../../src/cases/invoices/sums/keeping.ts';
import { Database } from '../../src/kernel/database/database.ts';
import { systemClock } from '../../src/kernel/time/time.ts';
import { compareSizes } from './turns.ts';

/** Measures the lists of a large company, and of the same company with a hundredth of the records, in turns. */

const PATHS: Readonly<Record<string, string>> = {
  cases: '/cases?limit=20',
  'cases by last update': '/cases?sort=-updated_at&limit=20',
  'open cases': '/cases?state=open&limit=20',
  interactions: '/interactions',
  'interactions, oldest first': '/interactions?sort=when',
  'interactions of a type': '/interactions?type=letter',
  'interactions of a month': '/interactions?from=2025-01-01%2000:00&to=2026-01-01%2000:00',
  invoices: '/invoices',
  'invoices by creation': '/invoices?sort=-date_created',
  'invoices in part paid': '/invoices?status=Part%20Paid&limit=20',
  'overdue invoices': '/invoices?overdue=true&sort=date_due',
  appointments: '/appointments',
  'appointments, cancelled': '/appointments?outcome=cancelled&sort=-start_time',
  'appointments of an adviser': '/appointments?adviser_email=adviser-3@company.example&limit=20',
  'address book': '/address-book',
  'address book by name': '/address-book?name=smi',
  'address book by email': '/address-book?email=john.&limit=10',
  'address book by phone': '/address-book?phone=07400%20123456',
  'address book by tag': '/address-book?tag=vip-client',
  'sums of invoices': '/invoices/sums',
};

await compareSizes({
  title: 'List',
  requests: Object.fromEntries(Object.entries(PATHS).map(([name, path]) => [name, { path }])),
  // What a worker does, which the services of the bench lack.
  async prepare(connection) {
    const db = new Database({ connection, poolSize: 1 });
    await keepInvoiceSums({ db, clock: systemClock, logger: pino({ level: 'silent' }) });
    await db.close();
  },
});
