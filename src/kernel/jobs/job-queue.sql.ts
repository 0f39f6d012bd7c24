import type { Inputs, InputValues } from '../sql/inputs.ts';
import { isoTime } from '../sql/json.ts';
import { type Query, read, type Statement, write } from '../sql/statement.ts';

/**
 * The jobs of a queue are the rows of a table with these columns: `company_id`, `claim_at` (when the job may be
 * claimed), `lease_until` and `lease_by` (until when and by which claim it is leased), and an index on
 * (company_id, claim_at) WHERE `open`.
 */
type QueueTable = {
  /** Prefix of the statements' names; the name of the table by default. */
  name?: string;
  table: string;
  /** The columns of the primary key, all of type uuid. */
  key: readonly string[];
  /** SQL condition of the rows that still wait for work. */
  open: string;
};

/** A queue whose jobs the companies take turns in. */
type FairQueueTable = QueueTable & {
  /** The table of the companies; its primary key is `id`. */
  tenantTable: string;
};

export const CLAIM_INPUTS = {
  now: 'timestamptz',
  lease: 'uuid',
  lease_until: 'timestamptz',
  /** How many jobs to claim at most. */
  limit: 'int',
  /** The companies that have running jobs, and how many each of them has. */
  busy_companies: 'uuid[]',
  busy_counts: 'int[]',
  max_per_company: 'int',
  /** How many of `limit` are for companies without a running job. */
  reserved: 'int',
} as const;

export const NEXT_DUE_INPUTS = { excluded_companies: 'uuid[]' } as const;

export type ClaimValues = InputValues<typeof CLAIM_INPUTS>;

type Key = Readonly<Record<string, string>>;

export type QueueStatements = {
  /** Returns the keys of the claimed jobs. */
  claim: Statement<ClaimValues>;
  /** Returns when the first job of the other companies can be claimed. */
  nextDue: Statement<InputValues<typeof NEXT_DUE_INPUTS>>;
  renew: (leaseUntil: string, leases: readonly { id: string; key: Key }[]) => Query;
  /** Makes the job available to other workers, unless it is leased to another claim by now. */
  release: (lease: string, key: Key) => Query;
};

/**
 * A claim probes the index once per company, so its cost does not grow with the backlog. Rows that another worker is
 * claiming are skipped, and the companies take turns.
 */
export function queueStatements({ tenantTable, ...queue }: FairQueueTable): QueueStatements {
  const { table, name = table, key, open } = queue;
  const oldest = (condition: string) =>
    `SELECT claim_at FROM ${table} WHERE company_id = c.id AND ${condition} ORDER BY claim_at LIMIT 1`;
  return {
    claim: write(`${name}.claim`, {
      inputs: CLAIM_INPUTS,
      sql: (input) => `
        WITH due AS (
          SELECT c.id AS company_id, coalesce(b.running, 0) AS running
            FROM ${tenantTable} c
            LEFT JOIN unnest(${input.busy_companies}, ${input.busy_counts}) AS b (company_id, running)
              ON b.company_id = c.id
           CROSS JOIN LATERAL (${oldest(`${open} AND claim_at <= ${input.now}`)}) oldest
           WHERE coalesce(b.running, 0) < ${input.max_per_company}
           ORDER BY coalesce(b.running, 0), oldest.claim_at LIMIT ${input.limit}
        ), unlocked AS (
          SELECT t.*, due.running + row_number() OVER (PARTITION BY t.company_id ORDER BY t.claim_at) AS turn
            FROM due CROSS JOIN LATERAL (
              SELECT ${key.join(', ')}, claim_at FROM ${table}
               WHERE company_id = due.company_id AND ${open} AND claim_at <= ${input.now}
               ORDER BY claim_at LIMIT least(${input.max_per_company} - due.running, ${input.limit})
                 FOR UPDATE SKIP LOCKED) t
        ), chosen AS (
          SELECT * FROM (SELECT *, row_number() OVER (ORDER BY turn, claim_at) AS place FROM unlocked) u
           WHERE place <= CASE turn WHEN 1 THEN ${input.limit} ELSE ${input.limit} - ${input.reserved} END
        )
        UPDATE ${table} w SET lease_by = ${input.lease}, lease_until = ${input.lease_until}
          FROM chosen t WHERE ${sameKey(key, 'w', 't')}
        RETURNING ${columnsOf(key, 'w')}`,
    }),
    nextDue: read(`${name}.next_due`, {
      inputs: NEXT_DUE_INPUTS,
      sql: (input) => `
        SELECT ${isoTime('min(n.claim_at)')} AS at
          FROM ${tenantTable} c CROSS JOIN LATERAL (${oldest(open)}) n
         WHERE c.id <> ALL (${input.excluded_companies})`,
    }),
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
  const keyInputs: Inputs = Object.fromEntries(key.map((column) => [column, 'uuid'] as const));
  const keyArrays: Inputs = Object.fromEntries(key.map((column) => [`${column}s`, 'uuid[]'] as const));
  const renew = write(`${name}.renew`, {
    inputs: { lease_until: 'timestamptz', leases: 'uuid[]', ...keyArrays } as Inputs,
    // A row that a request is changing is skipped until the next renewal: waiting for its lock could deadlock.
    sql: (input) => `
      WITH held AS (
        SELECT ${columnsOf(key, 'w')} FROM ${table} w
          JOIN unnest(${['lease', ...key].map((column) => input[`${column}s`]).join(', ')})
               AS t (lease, ${key.join(', ')})
            ON ${sameKey(key, 'w', 't')} AND w.lease_by = t.lease
         WHERE ${open} FOR UPDATE OF w SKIP LOCKED
      )
      UPDATE ${table} w SET lease_until = ${input.lease_until} FROM held h WHERE ${sameKey(key, 'w', 'h')}`,
  });
  const release = write(`${name}.release_lease`, {
    inputs: { lease: 'uuid', ...keyInputs } as Inputs,
    sql: (input) => `
      UPDATE ${table} SET lease_by = NULL, lease_until = NULL
       WHERE ${key.map((column) => `${column} = ${input[column]}`).join(' AND ')} AND lease_by = ${input.lease}`,
  });
  return {
    renew: (leaseUntil, leases) => {
      const keys = key.map((column) => [`${column}s`, leases.map((lease) => lease.key[column] ?? null)] as const);
      return renew({ lease_until: leaseUntil, leases: leases.map(({ id }) => id), ...Object.fromEntries(keys) });
    },
    release: (lease, values) => release({ ...values, lease }),
  };
}
