import { isoTime, jsonObject, wallTime } from '../../kernel/sql/json.ts';
import { read } from '../../kernel/sql/statement.ts';
import { fullAppointment, storedStates } from '../appointments/projection.sql.ts';
import { elementWithExternalId, joinDisplayType } from '../interactions/projection.sql.ts';
import { lateralStatus, outstanding, payment } from '../invoices/projection.sql.ts';

/** The kinds of entries. Of entries at the same time, those of the last kind come first. */
export const KINDS = ['interaction', 'appointment', 'invoice', 'payment', 'change'] as const;
export type Kind = (typeof KINDS)[number];

const INPUTS = {
  company_id: 'uuid',
  case_id: 'uuid',
  kinds: 'text[]',
  zone: 'text',
  limit: 'int',
  /** The last entry of the page before, and the position of the earliest change that was shown. */
  before_at: 'timestamptz',
  before_kind: 'int',
  before_id: 'uuid',
  before_position: 'bigint',
} as const;
type Input = Record<keyof typeof INPUTS, string>;

/** SQL: the keys of the next records of a kind, at most as many as the page has. */
const nextRecords = (
  kind: Kind,
  { table, alias, at, isShown }: Record<'table' | 'alias' | 'at' | 'isShown', string>,
  input: Input,
) => `
      (SELECT ${KINDS.indexOf(kind)} AS kind, ${alias}.id, ${at} AS at, NULL::bigint AS position
         FROM ${table} ${alias}
        WHERE '${kind}' = ANY (${input.kinds}) AND ${alias}.company_id = ${input.company_id}
          AND ${alias}.case_id = ${input.case_id} AND ${isShown}
          AND (${at}, ${KINDS.indexOf(kind)}, ${alias}.id) < (${input.before_at}, ${input.before_kind}, ${input.before_id})
        ORDER BY ${at} DESC, ${alias}.id DESC LIMIT ${input.limit})`;

/**
 * Changes are read by their positions: one that was committed late has an earlier time than those before it. In the order
 * of times it takes the place of its predecessor, so no page loses it or has it twice.
 */
const nextChanges = (input: Input) => `
      (SELECT ${KINDS.indexOf('change')}, '00000000-0000-0000-0000-000000000000'::uuid,
              least(${input.before_at}, min(e.at) OVER (ORDER BY c.position DESC)), c.position
         FROM (SELECT position FROM changes ORDER BY position DESC LIMIT ${input.limit}) c
         JOIN events e ON e.company_id = ${input.company_id} AND e.position = c.position)`;

const invoice = jsonObject({
  id: 'v.id',
  invoice_number: 'v.invoice_number',
  recipients_name: 'v.recipients_name',
  date_created: isoTime('v.date_created'),
  date_due: isoTime('v.date_due'),
  total: 'v.total',
  paid: 'v.paid',
  outstanding,
  status: 's.status',
});
const change = jsonObject({
  type: 'e.type',
  at: isoTime('e.at'),
  actor: `e.origin -> 'actor'`,
  request_id: `e.origin ->> 'request_id'`,
  record: jsonObject({ type: `split_part(e.type, '.', 1)`, id: 'e.record_id' }),
});

const rendered = (input: Input): Record<Kind, string> => {
  const key = (alias: string) =>
    `${alias}.company_id = ${input.company_id} AND ${alias}.case_id = ${input.case_id} AND ${alias}.id = p.id`;
  return {
    interaction: `SELECT ${elementWithExternalId(input.zone)} FROM interactions i ${joinDisplayType} WHERE ${key('i')}`,
    appointment: `SELECT ${fullAppointment({ endTime: wallTime('a.end_at', input.zone), states: 'states' })}::text
             FROM appointments a, ${storedStates()} WHERE ${key('a')}`,
    invoice: `SELECT ${invoice}::text FROM invoices v, ${lateralStatus} WHERE ${key('v')}`,
    payment: `SELECT ${payment}::text FROM payments y WHERE ${key('y')}`,
    change: `SELECT ${change}::text FROM events e WHERE e.company_id = ${input.company_id} AND e.position = p.position`,
  };
};

/** Returns the next entries, latest first. Each source contributes at most a page, and only the page is rendered. */
export const listTimeline = read('timeline.list', {
  inputs: INPUTS,
  pool: 'search',
  sql: (input) => `
    WITH changes AS MATERIALIZED (
      SELECT e.position FROM events e
       WHERE 'change' = ANY (${input.kinds}) AND e.company_id = ${input.company_id} AND e.case_id = ${input.case_id}
         AND e.position < ${input.before_position}
    ), page AS MATERIALIZED (
      SELECT * FROM (${[
        nextRecords(
          'interaction',
          { table: 'interactions', alias: 'i', at: 'i.happened_at', isShown: 'i.deleted_at IS NULL' },
          input,
        ),
        nextRecords(
          'appointment',
          { table: 'appointments', alias: 'a', at: 'a.start_at', isShown: 'a.deleted_at IS NULL' },
          input,
        ),
        nextRecords('invoice', { table: 'invoices', alias: 'v', at: 'v.date_created', isShown: 'true' }, input),
        nextRecords('payment', { table: 'payments', alias: 'y', at: 'y.paid_at', isShown: 'true' }, input),
        nextChanges(input),
      ].join('\n       UNION ALL')}) k
       ORDER BY k.at DESC, k.kind DESC, k.id DESC, k.position DESC LIMIT ${input.limit}
    )
    SELECT p.kind, p.id, ${isoTime('p.at')} AS at, p.position::text,
           CASE p.kind ${Object.entries(rendered(input))
             .map(([kind, sql]) => `WHEN ${KINDS.indexOf(kind as Kind)} THEN (${sql})`)
             .join('\n           ')} END AS json
      FROM page p ORDER BY p.at DESC, p.kind DESC, p.id DESC, p.position DESC`,
});
