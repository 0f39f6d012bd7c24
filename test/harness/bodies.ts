import type { TestCompany } from './app.ts';

type Fields = Record<string, unknown>;

export const PERSON = { entity_id: 'person', title: 'Mrs', first_names: 'Jane', last_name: 'Doe' };

let invoices = 0;

/** An invoice with a number of its own and without items. */
export const invoiceBody = (fields: Fields = {}): Fields => ({
  invoice_number: `INV-${++invoices}`,
  sender_id: '5f0c1c62-5d3b-4a64-9a0e-0d3a1c2b4e5f',
  date_created: '2026-05-01 10:00:00',
  date_due: '2026-05-31 17:30:00',
  vat: 20,
  total: 120,
  sub_total: 100,
  ...fields,
});

/** An appointment with the first adviser, nine days after the test clock starts. */
export const booking = (company: TestCompany, fields: Fields = {}): Fields => ({
  adviser_email: company.adviser,
  start_time: '2026-06-10 10:00:00',
  end_time: '2026-06-10 11:00:00',
  ...fields,
});

/** Inserts $3 interactions of company $1 and case $2, a minute apart. Every fifth is a letter, the others are calls. */
export const FILL_INTERACTIONS = `
  INSERT INTO interactions (company_id, case_id, id, type, notes, recipient, happened_at, created_at, updated_at)
  SELECT $1, $2, gen_random_uuid(), CASE WHEN n % 5 = 0 THEN 'letter' ELSE 'phone' END, 'Call ' || n, 'John Smith',
         timestamptz '2020-01-01T00:00:00Z' + n * interval '1 minute', now(), now() FROM generate_series(1, $3) n`;
