import type { Asking } from './context.ts';
import type { Scope } from './scopes.ts';

/**
 * The log of one kind of record. Each statement that changes a record also writes its entry, with what the record was
 * before: read in the same statement, and either locked or held against `version`, so that it is exact.
 */
export type RecordLog<Verb extends string = string> = {
  record: string;
  verbs: readonly Verb[];
  /** Where it is read by itself; its history stands below. */
  path: string | undefined;
  params: Record<string, string>;
  access: Scope;
  /** The record as it is now, for the row `e` of the log; null where it is gone. */
  current: string;
  /** Whether there is or was such a record: $1 company, $2 id, $3 case or null. */
  exists: string;
  image: string;
  /** What the record was, for `before`: `row` names what holds its row, locked. */
  was(row: string): string;
  entry(verb: Verb, entry: Entry): string;
};

type Entry = {
  /** The rows that were written, under the record's alias, and what `before` needs. */
  from: string;
  at: string;
  origin: string;
  before?: string;
};

type Options<Verb extends string> = {
  record: string;
  verbs: readonly Verb[];
  path?: string;
  params?: Record<string, string>;
  access: Scope;
  table: string;
  as: string;
  /** Everything that is the record's own and nothing that belongs to another: no name that is changed elsewhere. */
  image: string;
  key?: { company?: string; case?: string; id?: string };
};

export function recordLog<const Verb extends string>(options: Options<Verb>): RecordLog<Verb> {
  const { record, verbs, path, params = {}, access, table, as, image } = options;
  const key = { company: `${as}.company_id`, case: 'NULL', id: `${as}.id`, ...options.key };
  const inCase = key.case === 'NULL' ? '' : ` AND ${key.case} = e.case_id`;
  return {
    record,
    verbs,
    path,
    params,
    access,
    image,
    was: (row) => `(SELECT ${image} FROM ${row} ${as})`,
    current: `SELECT ${image} FROM ${table} ${as} WHERE ${key.company} = e.company_id${inCase} AND ${key.id} = e.record_id`,
    exists: `SELECT 1 FROM ${table} ${as}
      WHERE ${key.company} = $1 AND ${key.id} = $2 AND ${key.case}::uuid IS NOT DISTINCT FROM $3`,
    entry: (verb, { from, at, origin, before = 'NULL::json' }) =>
      `INSERT INTO events (company_id, position, case_id, record_id, type, at, origin, before)
       SELECT ${key.company}, ${nextPosition(key.company)}, ${key.case}::uuid, ${key.id}, '${record}.${verb}',
              ${at}::timestamptz, ${origin}::json, ${before} FROM ${from}`,
  };
}

/** For what belongs to a case. */
export const inCase = (as: string) => ({ case: `${as}.case_id` });

/**
 * Before it takes a position, a writer shows until its end, by a lock that nobody waits for, below which it takes none.
 * The order is that of CASE: first the lock, then the position.
 */
const nextPosition = (company: string) =>
  `CASE WHEN pg_advisory_xact_lock_shared(uuid_hash(${company}), (SELECT (last_value & 2147483647)::int FROM event_positions))
             IS NOT NULL THEN nextval('event_positions') END`;

/** Who asks, and in which request, as an entry keeps it. */
export const originOf = ({ credential, requestId }: Asking): string =>
  JSON.stringify({ actor: credential ?? OPERATOR, ...(requestId !== undefined && { request_id: requestId }) });

const OPERATOR = { type: 'operator' };

/** Of what is done without anybody asking for it at that moment. */
export const WORKER_ORIGIN = JSON.stringify({ actor: { type: 'worker' } });
