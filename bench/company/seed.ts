import type pg from 'pg';
import type { SeededCompany } from '../seed.ts';
import { CASES, createRandomFunctions, draw, emailOf, idOf, mobileOf, phoneOf, pick, TODAY } from './random.ts';
import { seedAddressBooks, seedAppointments, seedInteractions, seedInvoices } from './seed-records.ts';
import { FIRST_NAMES, LAST_NAMES, MATTERS } from './words.ts';

/**
 * Fills companies with six years of cases, the same ones whenever it runs on the same day, except for the ids of the
 * companies. The first company has half of everything, and some cases have hundreds of records.
 */

export type CompanySize = {
  cases: number;
  people: number;
  interactions: number;
  invoices: number;
  appointments: number;
};

/** The number of companies, whatever their size. */
export const COMPANIES = 50;

const FULL_SIZE: CompanySize = {
  cases: 200_000,
  people: 400_000,
  interactions: 2_000_000,
  invoices: 400_000,
  appointments: 300_000,
};

export const sizeAt = (scale: number): CompanySize =>
  Object.fromEntries(
    Object.entries(FULL_SIZE).map(([name, count]) => [name, Math.round(count * scale)]),
  ) as CompanySize;

/** Runs as superuser, without triggers. `onStep` is told what is about to be written. */
export async function seedLargeCompany(
  client: pg.Client,
  companies: SeededCompany[],
  size: CompanySize,
  onStep: (step: string) => void,
): Promise<void> {
  await client.query(`SET session_replication_role = replica; SET synchronous_commit = off; SET work_mem = '256MB'`);
  await createRandomFunctions(client);
  onStep('cases and customers');
  await seedAdvisersAndKinds(client, companies);
  await seedCases(client, companies, size.cases);
  await seedCustomers(client);
  onStep('address books');
  await seedAddressBooks(client, size.people);
  onStep('interactions');
  await seedInteractions(client, size.interactions);
  onStep('invoices');
  await seedInvoices(client, size.invoices);
  onStep('appointments');
  await seedAppointments(client, size.appointments);
  onStep('statistics');
  await client.query('VACUUM (ANALYZE)');
  await client.query('CHECKPOINT');
}

async function seedAdvisersAndKinds(client: pg.Client, companies: SeededCompany[]): Promise<void> {
  for (const [i, { id }] of companies.entries()) {
    const n = `${i} * 1000 + s.n`;
    await client.query(
      `INSERT INTO advisers (company_id, id, email, name, created_at, updated_at)
       SELECT '${id}', ${idOf(TODAY, n, 1)}, 'adviser-' || s.n || '@company.example',
              ${pick(FIRST_NAMES, n, 2)} || ' ' || ${pick(LAST_NAMES, n, 3)}, ${TODAY}, ${TODAY}
         FROM generate_series(1, ${i === 0 ? 40 : 5}) s (n)`,
    );
    await client.query(
      `INSERT INTO custom_tags (company_id, tag, created_at)
       SELECT '${id}', tag, ${TODAY} FROM unnest('{vip-client,referrer,do-not-call}'::text[]) tag
           ON CONFLICT DO NOTHING`,
    );
    await client.query(
      `INSERT INTO case_kinds (company_id, id, name, created_at, updated_at)
       SELECT '${id}', ${idOf(TODAY, `${i} * 1000 + k.n`, 4)}, replace(matter, '_', ' '), ${TODAY}, ${TODAY}
         FROM unnest('{${MATTERS.split(' ').join()}}'::text[]) WITH ORDINALITY k (matter, n)`,
    );
  }
}

/** Of the half that is not of the first company, earlier companies have more than later ones. */
async function seedCases(client: pg.Client, companies: SeededCompany[], count: number): Promise<void> {
  const others = companies.length - 1;
  await client.query(
    `CREATE TEMPORARY TABLE ${CASES} AS
     SELECT n, (string_to_array('${companies.map(({ id }) => id).join()}', ','))[company]::uuid AS company_id, company,
            ${idOf('opened', 'n', 10)} AS id, opened, ${pick(LAST_NAMES, 'n', 11)} AS last_name
       FROM generate_series(1, ${count}) n,
            LATERAL (SELECT CASE WHEN ${draw('n', 12)} < 0.5 THEN 1
                                 ELSE 2 + floor(${others} * ${draw('n', 13)} ^ 2)::int END AS company,
                            ${TODAY} - interval '6 years' * ${draw('n', 14)} AS opened) o`,
  );
  await client.query(`CREATE UNIQUE INDEX ON ${CASES} (n)`);
  await client.query(`ANALYZE ${CASES}`);
  await client.query(
    `INSERT INTO cases (company_id, id, reference, kind_id, state, opened_at, closed_at, responsible_adviser_id,
       created_at, updated_at)
     SELECT company_id, id, last_name || ', ' || matter || ' ' || to_char(opened, 'YYYY/') || lpad(n::text, 6, '0'),
            (SELECT k.id FROM case_kinds k WHERE k.company_id = c.company_id AND k.name = matter), state, opened,
            CASE WHEN state <> 'open' THEN updated END,
            a.ids[1 + floor(cardinality(a.ids) * ${draw('n', 17)})::int], opened, updated
       FROM ${CASES} c
       JOIN (SELECT company_id, array_agg(id ORDER BY email) AS ids FROM advisers GROUP BY company_id) a
            USING (company_id),
            LATERAL (SELECT ${pick(MATTERS, 'n', 15)} AS matter,
                            opened + (${TODAY} - opened) * ${draw('n', 18)} AS updated,
                            CASE WHEN opened > ${TODAY} - interval '1 year' THEN 'open'
                                 ELSE ('{closed,closed,archived,open}'::text[])[1 + n % 4] END AS state) d
      ORDER BY opened`,
  );
}

/** Two of three cases are of a couple. */
async function seedCustomers(client: pg.Client): Promise<void> {
  const person = '(c.n * 2 + part)';
  await client.query(
    `INSERT INTO customers (company_id, case_id, id, title, first_names, last_name, email, phone, phone_e164, created_at,
       updated_at)
     SELECT c.company_id, c.id, ${idOf('c.opened', person, 20)}, CASE part WHEN 0 THEN 'Mr' ELSE 'Mrs' END, first,
            c.last_name, ${emailOf('first', 'c.last_name', person)}, ${phoneOf('mobile', person)}, '+44' || mobile,
            c.opened, c.opened
       FROM ${CASES} c, generate_series(0, 1) part,
            LATERAL (SELECT ${pick(FIRST_NAMES, person, 21)} AS first, ${mobileOf(person)} AS mobile) f
      WHERE part = 0 OR ${draw('c.n', 22)} < 0.67 ORDER BY c.opened, part`,
  );
}
