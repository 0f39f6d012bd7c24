import type pg from 'pg';

/** SQL that draws the same value for the same number: hashes instead of random(), in whatever order rows are made. */

/** The temporary table of the cases: `n` from 1, company_id, `company` from 1, id, opened, last_name. */
export const CASES = 'bench_cases';

/** SQL: a number from 0 up to 1. `salt` distinguishes what is drawn for one `n`. */
export const draw = (n: string, salt: number): string => `pg_temp.draw(${n}, ${salt})`;

/** SQL: a word of the list. The first ones are drawn most. */
export function pick(words: string, n: string, salt: number): string {
  const list = words.split(' ').map((word) => `"${word.replaceAll('_', ' ').replaceAll("'", "''")}"`);
  return `('{${list.join()}}'::text[])[1 + floor(${list.length} * ${draw(n, salt)} ^ 1.8)::int]`;
}

/** SQL: a UUID of version 7 with the time `at`. */
export const idOf = (at: string, n: string, salt: number): string => `pg_temp.id_of(${at}, ${n}, ${salt})`;
/** SQL: an email address that most likely nobody else has. */
export const emailOf = (first: string, last: string, n: string): string => `pg_temp.email_of(${first}, ${last}, ${n})`;
/** SQL: a mobile number of the United Kingdom without its leading zero. */
export const mobileOf = (n: string): string => `(7400000000 + hashint8extended(${n}, 99) % 1000000 + 1000000)::text`;
/** SQL: the number as people write it. */
export const phoneOf = (mobile: string, n: string): string => `pg_temp.phone_of(${mobile}, ${n})`;
/** SQL: all dates lie before or after this midnight. */
export const TODAY = `date_trunc('day', now())`;

export async function createRandomFunctions(client: pg.Client): Promise<void> {
  await client.query(`
    CREATE OR REPLACE FUNCTION pg_temp.draw(n bigint, salt bigint) RETURNS float8 LANGUAGE sql IMMUTABLE AS $$
      SELECT (hashint8extended(n, salt) & 2147483647)::float8 / 2147483648
    $$;
    CREATE OR REPLACE FUNCTION pg_temp.id_of(at timestamptz, n bigint, salt int) RETURNS uuid LANGUAGE sql STABLE AS $$
      SELECT (lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0') || '7' ||
              overlay(substr(md5(n || ':' || salt), 1, 19) PLACING '8' FROM 4 FOR 1))::uuid
    $$;
    CREATE OR REPLACE FUNCTION pg_temp.email_of(first text, last text, n bigint) RETURNS text LANGUAGE sql STABLE AS $$
      SELECT lower(regexp_replace(normalize(first || '.' || last, NFD), '[^A-Za-z.]', '', 'g')) || n || '@' ||
             ('{mail.example,post.example,inbox.example,family.example}'::text[])[1 + n % 4]
    $$;
    CREATE OR REPLACE FUNCTION pg_temp.phone_of(mobile text, n bigint) RETURNS text LANGUAGE sql STABLE AS $$
      SELECT CASE n % 4 WHEN 0 THEN '0' || mobile
                        WHEN 1 THEN '+44 ' || substr(mobile, 1, 4) || ' ' || substr(mobile, 5)
                        WHEN 2 THEN '0' || substr(mobile, 1, 4) || ' ' || substr(mobile, 5)
                        ELSE '0' || substr(mobile, 1, 4) || '-' || substr(mobile, 5, 3) || '-' || substr(mobile, 8) END
    $$`);
}
