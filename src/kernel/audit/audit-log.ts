import type { Credential, RequestOrigin } from '../context.ts';
import type { Access } from '../scopes.ts';

/** The audit log of one kind of record. The statement that changes a record also writes its event, with a snapshot. */
export type AuditLog<Action extends string = string> = {
  record: string;
  actions: readonly Action[];
  /** The path that reads one record; its history is below. Undefined if no path does. */
  path: string | undefined;
  params: Record<string, string>;
  access: Access;
  /** SQL: the record as it is now, in the form of a snapshot, for the row `e` of the log; null if it does not exist. */
  current: string;
  /** SQL: the image of the rows in `was` of the log row `event`. Undefined if the log stores the image, in `before`. */
  renderSnapshot: ((event: string) => string) | undefined;
  /** SQL: returns a row if the record exists. `case_id` is NIL_CASE_ID for a record outside of cases. */
  exists(input: { company_id: string; id: string; case_id: string }): string;
  /** SQL: an INSERT for each row of `from`. */
  insertEvent(action: Action, event: Event): string;
};

type Event = {
  /** The FROM clause: the written rows under the alias of the record, and what the other expressions need. */
  from: string;
  at: string;
  origin: string;
  /** The snapshot of the record before the change. */
  before?: string;
  /** What the change touched in the parts that the snapshot leaves out, or null. */
  touched?: string;
  /** How many rows the images of the event are built from, if they are many, or null. */
  imageRows?: string;
};

export type AuditLogOptions<Action extends string> = {
  record: string;
  actions: readonly Action[];
  path?: string;
  params?: Record<string, string>;
  access: Access;
  table: string;
  /** The alias of the table in every statement of the log. */
  as: string;
};

type KeyColumns = { company: string; case: string; id: string };

/** Stores an image instead of the row, because the row holds secrets or data of other records. */
type ImageAuditLog<Action extends string = string> = AuditLog<Action> & {
  image: string;
  /** SQL: the image of the row that `row` names; the row must be locked. */
  snapshotOf(row: string): string;
};

export function imageAuditLog<const Action extends string>(
  options: AuditLogOptions<Action> & {
    /** Everything that belongs to the record, and nothing that another record can change. */
    image: string;
    key?: Partial<KeyColumns>;
  },
): ImageAuditLog<Action> {
  const { as, image } = options;
  const key = { company: `${as}.company_id`, case: NIL_CASE, id: `${as}.id`, ...options.key };
  return {
    ...baseAuditLog(options, key, image, 'before'),
    image,
    snapshotOf: (row) => `(SELECT ${image} FROM ${row} ${as})`,
    renderSnapshot: undefined,
  };
}

/** What both kinds of log share. `snapshot` is SQL over the record's alias, stored in `column`. */
export function baseAuditLog<Action extends string>(
  { record, actions, path, params = {}, access, table, as }: AuditLogOptions<Action>,
  key: KeyColumns,
  snapshot: string,
  column: 'before' | 'was',
) {
  return {
    record,
    actions,
    path,
    params,
    access,
    current: `SELECT ${snapshot} FROM ${table} ${as}
      WHERE ${key.company} = e.company_id AND ${key.case} = e.case_id AND ${key.id} = e.record_id`,
    exists: (input: { company_id: string; id: string; case_id: string }) =>
      `SELECT 1 FROM ${table} ${as}
        WHERE ${key.company} = ${input.company_id} AND ${key.id} = ${input.id} AND ${key.case} = ${input.case_id}`,
    insertEvent: (action: Action, { from, at, origin, before, touched, imageRows }: Event) => {
      const optional = Object.entries({ [column]: before, touched, image_rows: imageRows }).filter(([, sql]) => sql);
      const columns = optional.map(([name]) => `, ${name}`).join('');
      const values = optional.map(([, sql]) => `, ${sql}`).join('');
      return `INSERT INTO events (company_id, case_id, record_id, type, at, origin${columns})
       SELECT ${key.company}, ${key.case}, ${key.id}, '${record}.${action}', ${at}::timestamptz, ${origin}::json${values}
         FROM ${from}`;
    },
  };
}

/** The case of records that belong to no case. */
export const NIL_CASE_ID = '00000000-0000-0000-0000-000000000000';
const NIL_CASE = `'${NIL_CASE_ID}'::uuid`;

/** The key of a record that belongs to a case. */
export const caseKey = (as: string) => ({ case: `${as}.case_id` });

/** The origin that an event stores: the credential, or the operator, and the request. */
export function auditOrigin({ credential, requestId }: RequestOrigin): string {
  const who: Actor = credential ?? OPERATOR;
  const actor = actors.get(who) ?? JSON.stringify(who);
  actors.set(who, actor);
  return `{"actor":${actor}${requestId === undefined ? '' : `,"request_id":${JSON.stringify(requestId)}`}}`;
}

type Actor = Credential | { type: 'operator' };

const OPERATOR: Actor = { type: 'operator' };
/** A credential is the same object for many requests. */
const actors = new WeakMap<Actor, string>();

/** The origin of changes that no request asked for at that moment. */
export const WORKER_ORIGIN = JSON.stringify({ actor: { type: 'worker' } });
