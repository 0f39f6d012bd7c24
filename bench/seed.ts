import type pg from 'pg';
import { CreateAdviserBody } from '../src/company/advisers/schema.ts';
import { createAdviser } from '../src/company/advisers/verbs.ts';
import { CreateCompanyBody } from '../src/company/companies/schema.ts';
import { createCompany } from '../src/company/companies/verbs.ts';
import { findCompany } from '../src/company/company.ts';
import { storeKey } from '../src/company/credentials/keys/verbs.ts';
import { CustomTagBody } from '../src/company/tags/schema.ts';
import { createCustomTag } from '../src/company/tags/verbs.ts';
import type { Database } from '../src/kernel/database/database.ts';
import { COMPANY_SCOPES } from '../src/kernel/scopes.ts';
import { systemClock } from '../src/kernel/time/time.ts';
import { readForm } from '../src/kernel/validation/form.ts';

/** The number of cases, and of records of each kind in every case. */
export type DatasetSize = {
  cases: number;
  people: number;
  interactions: number;
  invoices: number;
  appointments: number;
};

export const ADVISER = 'adviser@company.example';
/** The email address of the first of the two customers of every case. */
export const CUSTOMER = 'client-1@client.example';
export const CUSTOM_TAG = 'vip-client';

export type SeededCompany = { id: string; token: string };

/** Creates companies, each with an adviser, a custom tag and an API key, through the verbs of the service. */
export async function createCompanies(db: Database, count: number): Promise<SeededCompany[]> {
  const companies: SeededCompany[] = [];
  for (let i = 0; i < count; i++) companies.push(await createSeededCompany(db, i));
  return companies;
}

async function createSeededCompany(db: Database, i: number): Promise<SeededCompany> {
  const admin = { db, clock: systemClock };
  const id: string = JSON.parse(await createCompany(admin, readForm(CreateCompanyBody, { name: `Company ${i}` }))).id;
  const context = { ...admin, company: await findCompany(admin, id) };
  await createAdviser(context, readForm(CreateAdviserBody, { email: ADVISER, name: 'Alex Adviser' }));
  await createCustomTag(context, readForm(CustomTagBody, { tag: CUSTOM_TAG }));
  const { key: token } = JSON.parse(await storeKey(context, { name: 'bench', scopes: COMPANY_SCOPES }));
  return { id, token };
}

/** Inserts cases with their records in bulk, round robin over the companies. Runs as superuser, without triggers. */
export async function seedCases(client: pg.Client, companies: SeededCompany[], size: DatasetSize): Promise<string[]> {
  await client.query('SET session_replication_role = replica');
  await client.query('DROP TABLE IF EXISTS new_cases');
  await client.query(
    `CREATE TEMPORARY TABLE new_cases AS
     SELECT (string_to_array('${companies.map(({ id }) => id).join()}', ','))[1 + n % ${companies.length}]::uuid
              AS company_id, uuidv7() AS id, n FROM generate_series(1, ${size.cases}) n`,
  );
  await client.query(
    `INSERT INTO cases (company_id, id, reference, created_at, updated_at)
     SELECT company_id, id, 'Case ' || n, now(), now() FROM new_cases`,
  );
  await client.query(
    `INSERT INTO customers (company_id, case_id, id, title, first_names, last_name, email, created_at, updated_at)
     SELECT company_id, id, uuidv7(), 'Ms', 'Jo', 'Doe', 'client-' || n || '@client.example', now(), now()
       FROM (SELECT company_id, id FROM new_cases) f, generate_series(1, 2) n`,
  );
  await seedAddressBooks(client, size.people);
  await seedInteractions(client, size.interactions);
  await seedInvoices(client, size.invoices);
  await seedAppointments(client, size.appointments);
  // Plans need current statistics, and neither vacuum nor checkpoint of the seeding should run during measurements.
  await client.query('VACUUM (ANALYZE)');
  await client.query('CHECKPOINT');
  return (await client.query<{ id: string }>('SELECT id FROM new_cases')).rows.map(({ id }) => id);
}

/** SQL with `count` rows for every new case. */
const rowsPerCase = (count: number) =>
  `(SELECT f.company_id, f.id AS case_id, s.n FROM new_cases f, generate_series(1, ${count}) s (n))`;
/** SQL with the rows of `table` that belong to the new cases. */
const newRows = (table: string) =>
  `(SELECT t.* FROM ${table} t JOIN new_cases f ON f.company_id = t.company_id AND f.id = t.case_id)`;

async function seedAddressBooks(client: pg.Client, count: number): Promise<void> {
  await client.query(
    `INSERT INTO addresses (company_id, case_id, id, address_1, address_2, postcode, created_at, updated_at)
     SELECT company_id, case_id, uuidv7(), n || ' High Street', 'Anytown', 'AB1 2CD', now(), now()
       FROM ${rowsPerCase(count)} c`,
  );
  await client.query(
    `INSERT INTO people (company_id, case_id, id, address_id, title, first_names, last_name, tel_1, email, gender, dob,
       tags, custom_tags, created_at, updated_at)
     SELECT company_id, case_id, uuidv7(), id, 'Mr', 'Sam', 'Doe', '07400 123456', 'sam@client.example', 'male',
            '1970-01-31', '{executor,next-of-kin}', '{${CUSTOM_TAG}}', created_at, updated_at
       FROM ${newRows('addresses')} a`,
  );
  await client.query(
    `INSERT INTO relationships (company_id, case_id, person_id, customer_id, word, position)
     SELECT p.company_id, p.case_id, p.id, u.id, 'brother', 1
       FROM ${newRows('people')} p JOIN customers u ON u.company_id = p.company_id AND u.case_id = p.case_id
      WHERE u.email = '${CUSTOMER}'`,
  );
}

async function seedInteractions(client: pg.Client, count: number): Promise<void> {
  await client.query(
    `INSERT INTO interactions (company_id, case_id, id, type, notes, happened_at, sender, recipient, created_at,
       updated_at)
     SELECT company_id, case_id, uuidv7(), (ARRAY['phone', 'email', 'SMS', 'letter', 'other'])[1 + n % 5],
            'Spoke about the draft, the witnesses and what is to be signed at the next appointment, number ' || n,
            now() - n * interval '7 hours', 'Alex Adviser', 'Jo Doe', now(), now()
       FROM ${rowsPerCase(count)} c`,
  );
}

/** Each invoice has three items; every fourth invoice is paid. */
async function seedInvoices(client: pg.Client, count: number): Promise<void> {
  await client.query(
    `INSERT INTO invoices (company_id, case_id, id, invoice_number, sender_id, date_created, date_due, vat, sub_total,
       vat_amount, total, terms, payment_terms, recipients_name, paid, created_at, updated_at,
       item_count, payment_count)
     SELECT company_id, case_id, uuidv7(), 'INV-' || n, gen_random_uuid(), now() - n * interval '9 days',
            now() - n * interval '9 days' + interval '30 days', 20, 300, 60, 360, 'Terms', '30 days', 'Ms Jo Doe',
            CASE WHEN n % 4 = 0 THEN 360 ELSE 0 END, now(), now(), 3, CASE WHEN n % 4 = 0 THEN 1 ELSE 0 END
       FROM ${rowsPerCase(count)} c`,
  );
  await client.query(
    `INSERT INTO invoice_items (company_id, case_id, invoice_id, id, position, description, quantity, rate, amount,
       subtotal, vat_amount)
     SELECT company_id, case_id, id, uuidv7(), n, 'Mirror wills, part ' || n, 2, 50, 120, 100, 20
       FROM ${newRows('invoices')} v, generate_series(1, 3) n`,
  );
  await client.query(
    `INSERT INTO payments (company_id, case_id, invoice_id, id, amount, paid_at, created_at)
     SELECT company_id, case_id, id, uuidv7(), total, date_due, now() FROM ${newRows('invoices')} v WHERE paid > 0`,
  );
}

/** Appointments are years ahead, with a scheduled email reminder. */
async function seedAppointments(client: pg.Client, count: number): Promise<void> {
  await client.query(
    `INSERT INTO appointments (company_id, case_id, id, adviser_id, adviser_email, start_at, end_at, email_recipient,
       email_reminder, sms_reminder, location, video_meeting, created_at, updated_at)
     SELECT c.company_id, c.case_id, uuidv7(), d.id, d.email, day + n * interval '1 hour',
            day + (n + 1) * interval '1 hour', '${CUSTOMER}', true, false, '1 High Street', false, now(), now()
       FROM ${rowsPerCase(count)} c JOIN advisers d ON d.company_id = c.company_id,
            (SELECT date_trunc('day', now()) + interval '5 years' AS day) t`,
  );
  await client.query(
    `INSERT INTO messages (company_id, case_id, appointment_id, id, channel, kind, start_at, state, due_at, day_before,
       created_at, updated_at)
     SELECT company_id, case_id, id, uuidv7(), 'email', 'reminder', start_at, 'scheduled', start_at - interval '1 day',
            true, now(), now()
       FROM ${newRows('appointments')} a`,
  );
}
