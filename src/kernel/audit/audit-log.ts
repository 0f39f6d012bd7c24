import type { Credential, RequestOrigin } from '../context.ts';
import type { Scope } from '../scopes.ts';

/** The log of one kind of record. Each statement that changes a record also writes its entry, with what the record was. */
export type AuditLog<Verb extends string = string> = {
  record: string;
  verbs: readonly Verb[];
  /** Where it is read by itself; its history stands below. */
  path: string | undefined;
  params: Record<string, string>;
  access: Scope;
  /** What the log would keep of the record as it is now, for the row `e` of the log; null where it is gone. */
  current: string;
  /** What is shown of the rows in `was` of `entry`; undefined where the log keeps what is shown, in `before`. */
  renderSnapshot: ((entry: string) => string) | undefined;
  /** Whether there is or was such a record: $1 company, $2 id, $3 case or `noCase`. */
  exists: string;
  entry(verb: Verb, entry: Entry): string;
};

type Entry = {
  /** The rows that were written, under the record's alias, and what `before` needs. */
  from: string;
  at: string;
  origin: string;
  /** What the record was, as its log keeps it. */
  before?: string;
  /** Of parts that `before` leaves out: what the change touched, or null. */
  touched?: string;
  /** Of how many rows the images of the entry are made, if they are many, or null. */
  imageRows?: string;
};

export type AuditLogOptions<Verb extends string> = {
  record: string;
  verbs: readonly Verb[];
  path?: string;
  params?: Record<string, string>;
  access: Scope;
  table: string;
  as: string;
};

type Key = { company: string; case: string; id: string };

/** Keeps what is shown of the record, because its row also has what is nobody's to see, or what is another's. */
export type ImageAuditLog<Verb extends string = string> = AuditLog<Verb> & {
  image: string;
  /** The image of what `row` names, which has been locked. */
  was(row: string): string;
};

export function imageAuditLog<const Verb extends string>(
  options: AuditLogOptions<Verb> & {
    /** Everything that is the record's own and nothing that belongs to another: no name that is changed elsewhere. */
    image: string;
    key?: Partial<Key>;
  },
): ImageAuditLog<Verb> {
  const { as, image } = options;
  const key = { company: `${as}.company_id`, case: NO_CASE, id: `${as}.id`, ...options.key };
  return {
    ...baseAuditLog(options, key, image, 'before'),
    image,
    was: (row) => `(SELECT ${image} FROM ${row} ${as})`,
    renderSnapshot: undefined,
  };
}

/** What every log has. `kept`: of the record under its alias, and in which column. */
export function baseAuditLog<Verb extends string>(
  { record, verbs, path, params = {}, access, table, as }: AuditLogOptions<Verb>,
  key: Key,
  kept: string,
  column: 'before' | 'was',
) {
  return {
    record,
    verbs,
    path,
    params,
    access,
    current: `SELECT ${kept} FROM ${table} ${as} WHERE ${key.company} = e.company_id AND ${key.case} = e.case_id AND ${key.id} = e.record_id`,
    exists: `SELECT 1 FROM ${table} ${as}
      WHERE ${key.company} = $1 AND ${key.id} = $2 AND ${key.case} = $3`,
    entry: (verb: Verb, { from, at, origin, before, touched, imageRows }: Entry) => {
      const optional = Object.entries({ [column]: before, touched, image_rows: imageRows }).filter(([, sql]) => sql);
      const names = optional.map(([name]) => `, ${name}`).join('');
      const values = optional.map(([, sql]) => `, ${sql}`).join('');
      return `INSERT INTO events (company_id, case_id, record_id, type, at, origin${names})
       SELECT ${key.company}, ${key.case}, ${key.id}, '${record}.${verb}', ${at}::timestamptz, ${origin}::json${values}
         FROM ${from}`;
    },
  };
}

export const NIL_CASE_ID = '00000000-0000-0000-0000-000000000000';
const NO_CASE = `'${NIL_CASE_ID}'::uuid`;

/** For what belongs to a case. */
export const caseKey = (as: string) => ({ case: `${as}.case_id` });

/** Who asks, and in which request, as an entry keeps it. */
export function auditOrigin({ credential, requestId }: RequestOrigin): string {
  const who: Actor = credential ?? OPERATOR;
  const actor = actors.get(who) ?? JSON.stringify(who);
  actors.set(who, actor);
  return `{"actor":${actor}${requestId === undefined ? '' : `,"request_id":${JSON.stringify(requestId)}`}}`;
}

type Actor = Credential | { type: 'operator' };

const OPERATOR: Actor = { type: 'operator' };
/** A credential is looked up once for many requests. */
const actors = new WeakMap<Actor, string>();

/** Of what is done without anybody asking for it at that moment. */
export const WORKER_ORIGIN = JSON.stringify({ actor: { type: 'worker' } });
