import type pg from 'pg';
import { CASES, draw, emailOf, idOf, mobileOf, phoneOf, pick, TODAY } from './random.ts';
import { ENDINGS, FIRST_NAMES, LAST_NAMES, OCCUPATIONS, OPENINGS, STREETS, TOPICS, TOWNS } from './words.ts';

/** The records of the cases, in the order in which they would have been written. */

const TIMES = '{"9 hours","10 hours","11 hours","14 hours","15 hours","16 hours 30 minutes"}';

/**
 * SQL: `count` rows `r` with their number, a case `c`, and a time `at` between its opening and now. The first cases of
 * all have some hundred records, most have a few.
 */
const rowsOfCases = (count: number, salt: number) =>
  `(SELECT r.n, c.company_id, c.id AS case_id, c.n AS case_n, c.company, c.last_name, c.opened,
           c.opened + (${TODAY} - c.opened) * ${draw('r.n', salt + 1)} AS at
      FROM generate_series(1, ${count}) r (n)
      JOIN ${CASES} c ON c.n = 1 + floor((SELECT count(*) FROM ${CASES}) * ${draw('r.n', salt)} ^ 1.5)::int
     ORDER BY at) r`;

export async function seedAddressBooks(client: pg.Client, count: number): Promise<void> {
  await client.query(
    `CREATE TEMPORARY TABLE bench_people AS
     SELECT r.*, ${idOf('at', 'n', 30)} AS id, ${idOf('at', 'n', 31)} AS address_id, ${pick(FIRST_NAMES, 'n', 32)} AS first,
            CASE WHEN ${draw('n', 33)} < 0.4 THEN r.last_name
                 WHEN ${draw('n', 33)} < 0.5 THEN ${pick(LAST_NAMES, 'n', 34)} || '-' || ${pick(LAST_NAMES, 'n', 35)}
                 ELSE ${pick(LAST_NAMES, 'n', 34)} END AS last
       FROM ${rowsOfCases(count, 36)}`,
  );
  await client.query(
    `INSERT INTO addresses (company_id, case_id, id, address_1, address_2, postcode, created_at, updated_at)
     SELECT company_id, case_id, address_id, n % 180 + 1 || ' ' || ${pick(STREETS, 'n', 40)}, ${pick(TOWNS, 'n', 41)},
            substr('BCDEGLMNSW', 1 + n % 10, 1) || n % 28 + 1 || ' ' || n % 9 + 1 || 'AB', at, at
       FROM bench_people ORDER BY at`,
  );
  await client.query(
    `INSERT INTO people (company_id, case_id, id, address_id, title, first_names, last_name, tel_1, email, gender, dob,
       occupation, tags, custom_tags, created_at, updated_at, deleted_at)
     SELECT company_id, case_id, id, address_id, CASE n % 3 WHEN 0 THEN 'Mr' WHEN 1 THEN 'Mrs' ELSE 'Ms' END, first, last,
            CASE WHEN n % 5 > 0 THEN ${phoneOf(mobileOf('n + 1000000'), 'n')} END,
            CASE WHEN n % 3 > 0 THEN ${emailOf('first', 'last', 'n')} END, CASE n % 3 WHEN 0 THEN 'male' ELSE 'female' END,
            date '1930-01-01' + (${draw('n', 42)} * 28000)::int, ${pick(OCCUPATIONS, 'n', 43)},
            CASE n % 4 WHEN 0 THEN '{executor}' WHEN 1 THEN '{beneficiary}' WHEN 2 THEN '{executor,beneficiary}'
                       ELSE '{}' END::text[],
            CASE n % 50 WHEN 0 THEN '{vip-client}' WHEN 1 THEN '{referrer}' ELSE '{}' END::text[],
            at, at, CASE n % 100 WHEN 0 THEN at END
       FROM bench_people ORDER BY at`,
  );
  await client.query(
    `INSERT INTO relationships (company_id, case_id, person_id, customer_id, word, position)
     SELECT p.company_id, p.case_id, p.id, u.id, 'relative', 1
       FROM bench_people p JOIN ${CASES} c ON c.n = p.case_n
       JOIN customers u ON u.company_id = p.company_id AND u.case_id = p.case_id
                       AND u.id = ${idOf('c.opened', 'c.n * 2', 20)}`,
  );
}

/** A third of the notes names a person, and each has an own number, as the notes of real cases do. */
export async function seedInteractions(client: pg.Client, count: number): Promise<void> {
  await client.query(
    `INSERT INTO interactions (company_id, case_id, id, type, notes, happened_at, sender, recipient, created_at,
       updated_at, deleted_at)
     SELECT company_id, case_id, ${idOf('at', 'n', 50)},
            ('{phone,email,phone,letter,email,SMS,phone,appointment,video_conference,other}'::text[])[1 + n % 10],
            ${pick(OPENINGS, 'n', 51)} || ' ' || CASE n % 3 WHEN 0 THEN ${pick(FIRST_NAMES, 'n', 52)} || ' ' || last_name
              ELSE 'the client' END || ' about ' || ${pick(TOPICS, 'n', 53)} || ', ' || ${pick(ENDINGS, 'n', 54)} ||
            CASE n % 4 WHEN 0 THEN ', ref ' || n ELSE '' END,
            date_trunc('minute', at), ${pick(FIRST_NAMES, 'n', 55)} || ' ' || ${pick(LAST_NAMES, 'n', 56)}, last_name,
            at, at, CASE n % 200 WHEN 0 THEN at END
       FROM ${rowsOfCases(count, 57)}`,
  );
}

/** The second company does not record its payments. The others are paid late at times, and sometimes never. */
export async function seedInvoices(client: pg.Client, count: number): Promise<void> {
  await client.query(
    `CREATE TEMPORARY TABLE bench_invoices AS
     SELECT r.*, ${idOf('at', 'n', 60)} AS id, at + interval '30 days' AS due, (1 + n % 3)::int AS items,
            (100 + floor(${draw('n', 61)} ^ 3 * 4000))::numeric(12, 2) AS rate,
            CASE WHEN n % 40 = 0 THEN 'cancelled' WHEN company = 2 THEN 'open'
                 WHEN ${draw('n', 62)} < CASE WHEN at < ${TODAY} - interval '120 days' THEN 0.97
                                              WHEN at < ${TODAY} - interval '30 days' THEN 0.8 ELSE 0.3 END THEN 'paid'
                 WHEN n % 7 = 0 THEN 'part' ELSE 'open' END AS state
       FROM ${rowsOfCases(count, 63)}`,
  );
  await client.query(
    `INSERT INTO invoices (company_id, case_id, id, invoice_number, sender_id, date_created, date_due, vat, sub_total,
       vat_amount, total, terms, payment_terms, recipients_name, paid, cancelled_at, created_at, updated_at, item_count,
       payment_count)
     SELECT company_id, case_id, id, 'INV-' || to_char(at, 'YYYY-') || lpad(n::text, 6, '0'), case_id,
            date_trunc('minute', at), date_trunc('minute', due), 20, items * rate, items * rate / 5, items * rate * 1.2, '',
            '30 days', 'Mr and Mrs ' || last_name,
            CASE state WHEN 'paid' THEN items * rate * 1.2 WHEN 'part' THEN rate / 2 ELSE 0 END,
            CASE state WHEN 'cancelled' THEN at END, at, at, items, CASE WHEN state IN ('paid', 'part') THEN 1 ELSE 0 END
       FROM bench_invoices ORDER BY at`,
  );
  await client.query(
    `INSERT INTO invoice_items (company_id, case_id, invoice_id, id, position, description, quantity, rate, amount,
       subtotal, vat_amount)
     SELECT company_id, case_id, id, ${idOf('at', 'n * 10 + part', 65)}, part, initcap(${pick(TOPICS, 'n + part', 66)}), 1,
            rate, rate * 1.2, rate, rate * 0.2
       FROM bench_invoices, generate_series(1, items) part ORDER BY at, part`,
  );
  await client.query(
    `INSERT INTO payments (company_id, case_id, invoice_id, id, amount, paid_at, created_at)
     SELECT company_id, case_id, id, ${idOf('due', 'n', 67)}, CASE state WHEN 'paid' THEN items * rate * 1.2 ELSE rate / 2 END,
            least(due, ${TODAY}), least(due, ${TODAY})
       FROM bench_invoices WHERE state IN ('paid', 'part') ORDER BY at`,
  );
}

/** One of thirty is in the next two months, with a reminder that is scheduled; the others have been. */
export async function seedAppointments(client: pg.Client, count: number): Promise<void> {
  await client.query(
    `CREATE TEMPORARY TABLE bench_appointments AS
     SELECT r.*, ${idOf('at', 'n', 70)} AS id, d.id AS adviser_id, d.email,
            date_trunc('day', CASE WHEN n % 30 = 0 THEN ${TODAY} + interval '60 days' * ${draw('n', 71)} ELSE at END)
              + ('${TIMES}'::interval[])[1 + n % 6] AS start
       FROM ${rowsOfCases(count, 72)}
       JOIN (SELECT a.*, row_number() OVER (PARTITION BY company_id ORDER BY a.email) AS k,
                    count(*) OVER (PARTITION BY company_id) AS many FROM advisers a) d
         ON d.company_id = r.company_id AND d.k = 1 + floor(d.many * ${draw('r.n', 74)})`,
  );
  await client.query(
    `INSERT INTO appointments (company_id, case_id, id, adviser_id, adviser_email, start_at, end_at, email_recipient,
       email_reminder, sms_reminder, notes, location, attended, cancelled, video_meeting, created_at, updated_at, deleted_at)
     SELECT company_id, case_id, id, adviser_id, email, start, start + interval '1 hour', 'client@mail.example', n % 2 = 0,
            false, initcap(${pick(TOPICS, 'n', 75)}), n % 40 + 1 || ' ' || ${pick(STREETS, 'n', 76)},
            CASE WHEN start < ${TODAY} AND n % 12 > 0 AND n % 15 > 0 THEN 1 ELSE 0 END, CASE n % 15 WHEN 0 THEN 1 ELSE 0 END,
            false, at, at, CASE n % 100 WHEN 1 THEN at END
       FROM bench_appointments ORDER BY at`,
  );
  await client.query(
    `INSERT INTO messages (company_id, case_id, appointment_id, id, channel, kind, start_at, state, due_at, day_before,
       created_at, updated_at)
     SELECT company_id, case_id, id, ${idOf('at', 'n', 77)}, 'email', 'reminder', start,
            CASE WHEN n % 100 = 1 THEN 'cancelled' WHEN start > ${TODAY} + interval '1 day' THEN 'scheduled' ELSE 'sent' END,
            start - interval '1 day', true, at, at
       FROM bench_appointments WHERE n % 2 = 0 ORDER BY at`,
  );
}
