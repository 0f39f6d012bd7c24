import { type Statement, statement } from '../sql/statement.ts';

/**
 * What is due later stands in a table of its own with these columns: `company_id`, `claim_at` (when it may be taken),
 * `lease_until` and `lease_by` (by whom it is taken, and for how long), and an index on (company_id, claim_at)
 * WHERE `open`.
 */
export type DueTable = {
  /** Of the statements; by default that of the table. */
  name?: string;
  table: string;
  /** The primary key, uuids only. */
  key: readonly string[];
  /** Which rows still wait for work. */
  open: string;
};

export type DueStatements = {
  /**
   * $1 now, $2 claim, $3 lease until, $4 how many, $5 and $6 companies under way with how many, $7 most of a company, $8
   * how many of $4 are for companies with nothing under way alone
   */
  claim: Statement;
  /** $1 companies that may take no more slots: when the first thing of the others may be taken, or might have been. */
  nextDue: Statement;
  /** $1 lease until, $2… the claims, then the keys, one array per column */
  renew: Statement;
  /** $1 a claim, $2… the key: whoever comes by may take it, where the claim still holds it. */
  giveBack: Statement;
};

/**
 * One probe of the index per company, whatever waits: the cost of a claim does not grow with the backlog. Rows that
 * another worker is taking are passed over; the companies take turns.
 */
export function queueStatements({ table, name = table, key, open }: DueTable): DueStatements {
  const columns = (alias: string) => key.map((column) => `${alias}.${column}`).join(', ');
  const same = sameKey(key);
  return {
    claim: statement(
      `${name}.claim`,
      `WITH due AS (
         SELECT c.id AS company_id, coalesce(b.under_way, 0) AS under_way
           FROM companies c
           LEFT JOIN unnest($5::uuid[], $6::int[]) AS b (company_id, under_way) ON b.company_id = c.id
          CROSS JOIN LATERAL (SELECT claim_at FROM ${table} WHERE company_id = c.id AND ${open} AND claim_at <= $1
                               ORDER BY claim_at LIMIT 1) oldest
          WHERE coalesce(b.under_way, 0) < $7
          ORDER BY coalesce(b.under_way, 0), oldest.claim_at LIMIT $4
       ), free AS (
         SELECT t.*, due.under_way + row_number() OVER (PARTITION BY t.company_id ORDER BY t.claim_at) AS turn
           FROM due CROSS JOIN LATERAL (
             SELECT ${key.join(', ')}, claim_at FROM ${table}
              WHERE company_id = due.company_id AND ${open} AND claim_at <= $1
              ORDER BY claim_at LIMIT least($7 - due.under_way, $4) FOR UPDATE SKIP LOCKED) t
       ), taken AS (
         SELECT * FROM (SELECT *, row_number() OVER (ORDER BY turn, claim_at) AS place FROM free) f
          WHERE place <= CASE turn WHEN 1 THEN $4 ELSE $4 - $8 END
       )
       UPDATE ${table} w SET lease_by = $2, lease_until = $3 FROM taken t WHERE ${same('w', 't')}
       RETURNING ${columns('w')}`,
    ),
    nextDue: statement(
      `${name}.next_due`,
      `SELECT to_char(min(n.claim_at) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS at
         FROM companies c CROSS JOIN LATERAL (
           SELECT claim_at FROM ${table} WHERE company_id = c.id AND ${open}
            ORDER BY claim_at LIMIT 1) n
        WHERE c.id <> ALL ($1::uuid[])`,
    ),
    ...leaseStatements({ table, name, key, open }),
  };
}

const sameKey = (key: readonly string[]) => (a: string, b: string) =>
  key.map((column) => `${a}.${column} = ${b}.${column}`).join(' AND ');

/** Of a table whose rows are taken in a way of its own. */
export function leaseStatements({
  table,
  name = table,
  key,
  open,
}: DueTable): Pick<DueStatements, 'renew' | 'giveBack'> {
  const columns = (alias: string) => key.map((column) => `${alias}.${column}`).join(', ');
  const same = sameKey(key);
  return {
    renew: statement(
      `${name}.renew`,
      // A row that a request is changing right now is left for the next time: nobody waits in a circle.
      `WITH held AS (
         SELECT ${columns('w')} FROM ${table} w
           JOIN unnest(${['claim', ...key].map((_, i) => `$${i + 2}::uuid[]`).join(', ')}) AS t (claim, ${key.join(', ')})
             ON ${same('w', 't')} AND w.lease_by = t.claim
          WHERE ${open} FOR UPDATE OF w SKIP LOCKED
       )
       UPDATE ${table} w SET lease_until = $1 FROM held h WHERE ${same('w', 'h')}`,
    ),
    giveBack: statement(
      `${name}.give_back`,
      `UPDATE ${table} SET lease_by = NULL, lease_until = NULL
        WHERE ${key.map((column, i) => `${column} = $${i + 2}`).join(' AND ')} AND lease_by = $1`,
    ),
  };
}
