import { type Statement, statement } from '../sql/statement.ts';

/**
 * The jobs of a queue are the rows of a table with these columns: `company_id`, `claim_at` (when the job may be
 * claimed), `lease_until` and `lease_by` (until when and by which claim it is leased), and an index on
 * (company_id, claim_at) WHERE `open`.
 */
export type QueueTable = {
  /** Prefix of the statements' names; the name of the table by default. */
  name?: string;
  table: string;
  /** The columns of the primary key, all of type uuid. */
  key: readonly string[];
  /** SQL condition of the rows that still wait for work. */
  open: string;
};

/** A queue whose jobs the companies take turns in. */
export type FairQueueTable = QueueTable & {
  /** The table of the companies; its primary key is `id`. */
  tenantTable: string;
};

export type QueueStatements = {
  /**
   * $1 now, $2 claim, $3 lease until, $4 free slots, $5 and $6 companies with running jobs and how many each has, $7 slots
   * of one company, $8 how many of the free slots are reserved for companies without a running job
   */
  claim: Statement;
  /** $1 companies that may take no more slots: when the first job of the others may be claimed. */
  nextDue: Statement;
  /** $1 lease until, $2… the claims, then the keys, one array per column */
  renew: Statement;
  /** $1 claim, $2… the key: another worker may claim the job, unless another claim holds it already. */
  release: Statement;
};

/**
 * A claim probes the index once per company, so its cost does not grow with the backlog. Rows that another worker is
 * claiming are skipped, and the companies take turns.
 */
export function queueStatements({ tenantTable, ...queue }: FairQueueTable): QueueStatements {
  const { table, name = table, key, open } = queue;
  return {
    claim: statement(
      `${name}.claim`,
      `WITH due AS (
         SELECT c.id AS company_id, coalesce(b.running, 0) AS running
           FROM ${tenantTable} c
           LEFT JOIN unnest($5::uuid[], $6::int[]) AS b (company_id, running) ON b.company_id = c.id
          CROSS JOIN LATERAL (SELECT claim_at FROM ${table} WHERE company_id = c.id AND ${open} AND claim_at <= $1
                               ORDER BY claim_at LIMIT 1) oldest
          WHERE coalesce(b.running, 0) < $7
          ORDER BY coalesce(b.running, 0), oldest.claim_at LIMIT $4
       ), unlocked AS (
         SELECT t.*, due.running + row_number() OVER (PARTITION BY t.company_id ORDER BY t.claim_at) AS turn
           FROM due CROSS JOIN LATERAL (
             SELECT ${key.join(', ')}, claim_at FROM ${table}
              WHERE company_id = due.company_id AND ${open} AND claim_at <= $1
              ORDER BY claim_at LIMIT least($7 - due.running, $4) FOR UPDATE SKIP LOCKED) t
       ), chosen AS (
         SELECT * FROM (SELECT *, row_number() OVER (ORDER BY turn, claim_at) AS place FROM unlocked) u
          WHERE place <= CASE turn WHEN 1 THEN $4 ELSE $4 - $8 END
       )
       UPDATE ${table} w SET lease_by = $2, lease_until = $3 FROM chosen t WHERE ${sameKey(key, 'w', 't')}
       RETURNING ${columnsOf(key, 'w')}`,
    ),
    nextDue: statement(
      `${name}.next_due`,
      `SELECT to_char(min(n.claim_at) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS at
         FROM ${tenantTable} c CROSS JOIN LATERAL (
           SELECT claim_at FROM ${table} WHERE company_id = c.id AND ${open}
            ORDER BY claim_at LIMIT 1) n
        WHERE c.id <> ALL ($1::uuid[])`,
    ),
    ...leaseStatements(queue),
  };
}

const columnsOf = (key: readonly string[], alias: string): string =>
  key.map((column) => `${alias}.${column}`).join(', ');

const sameKey = (key: readonly string[], a: string, b: string): string =>
  key.map((column) => `${a}.${column} = ${b}.${column}`).join(' AND ');

/** The statements of a queue whose jobs are claimed by a statement of its own. */
export function leaseStatements({
  table,
  name = table,
  key,
  open,
}: QueueTable): Pick<QueueStatements, 'renew' | 'release'> {
  return {
    renew: statement(
      `${name}.renew`,
      // A row that a request is changing is skipped until the next renewal: waiting for its lock could deadlock.
      `WITH held AS (
         SELECT ${columnsOf(key, 'w')} FROM ${table} w
           JOIN unnest(${['claim', ...key].map((_, i) => `$${i + 2}::uuid[]`).join(', ')}) AS t (claim, ${key.join(', ')})
             ON ${sameKey(key, 'w', 't')} AND w.lease_by = t.claim
          WHERE ${open} FOR UPDATE OF w SKIP LOCKED
       )
       UPDATE ${table} w SET lease_until = $1 FROM held h WHERE ${sameKey(key, 'w', 'h')}`,
    ),
    release: statement(
      `${name}.release_lease`,
      `UPDATE ${table} SET lease_by = NULL, lease_until = NULL
        WHERE ${key.map((column, i) => `${column} = $${i + 2}`).join(' AND ')} AND lease_by = $1`,
    ),
  };
}
