import { imageAuditLog } from '../../kernel/audit/audit-log.ts';
import { externalIds } from '../../kernel/external-ids/statements.sql.ts';
import { CASE_ACCESS } from '../../kernel/scopes.ts';
import { isoTime, jsonObject } from '../../kernel/sql/json.ts';
import { read, write } from '../../kernel/sql/statement.ts';
import {
  CUSTOMER_ORDER,
  customerAudit,
  customerMatches,
  customerRecord,
  insertCustomers,
} from '../customers/statements.sql.ts';
import { listStatements } from '../list.sql.ts';

/** The columns that a request sets. JSON fields have the same names. */
export const CASE_COLUMNS = [
  'reference',
  'kind_id',
  'state',
  'opened_at',
  'closed_at',
  'responsible_adviser_id',
] as const;

const identity = { id: 'c.id', external_id: 'c.external_id', reference: 'c.reference', kind_id: 'c.kind_id' };
const kindName = '(SELECT k.name FROM case_kinds k WHERE k.company_id = c.company_id AND k.id = c.kind_id)';
const state = {
  state: 'c.state',
  opened_at: isoTime('c.opened_at'),
  closed_at: isoTime('c.closed_at'),
  responsible_adviser_id: 'c.responsible_adviser_id',
};
const times = { created_at: isoTime('c.created_at'), updated_at: isoTime('c.updated_at') };
const fieldsWith = (customers: string) => ({
  ...identity,
  kind: kindName,
  ...state,
  customers: `(SELECT coalesce(json_agg(${customerRecord} ORDER BY ${CUSTOMER_ORDER}), '[]') FROM ${customers})`,
  ...times,
});
export const recordFields = fieldsWith(
  'customers u WHERE u.company_id = c.company_id AND u.case_id = c.id AND u.removed_at IS NULL',
);
export const record = jsonObject(recordFields);

export const caseAudit = imageAuditLog({
  record: 'case',
  actions: ['created', 'updated', 'closed', 'archived', 'reopened'],
  path: '/manage/cases/{caseId}',
  params: { caseId: 'case' },
  access: CASE_ACCESS.read,
  table: 'cases',
  as: 'c',
  key: { case: 'c.id' },
  image: jsonObject({ ...identity, ...state, ...times }),
});

export const caseIds = externalIds({
  noun: 'case',
  table: 'cases',
  as: 'c',
  inCase: false,
  update: (set, input) => `old AS (
      SELECT c.*, input.nth FROM cases c JOIN input ON c.company_id = ${input.company_id} AND c.id = ${input.id}
         FOR NO KEY UPDATE OF c
    ), c AS (
      UPDATE cases c SET ${set}, updated_at = input.now
        FROM old JOIN input USING (nth) WHERE c.company_id = old.company_id AND c.id = old.id
      RETURNING c.*, input.nth
    ), event AS (
      ${caseAudit.insertEvent('updated', {
        from: 'c JOIN input USING (nth)',
        at: 'input.now',
        origin: 'input.origin',
        before: caseAudit.snapshotOf('old'),
      })}
    )`,
});

/** IN instead of EXISTS, so that a search reads the customers once and not once per case. */
export const listCases = listStatements('cases', {
  inputs: { company_id: 'uuid' },
  searchInputs: { phone_e164: 'text?' },
  table: 'cases',
  alias: 'c',
  where: (input) => `c.company_id = ${input.company_id}`,
  element: record,
  order: 'c.created_at DESC, c.id DESC',
  matches: (input) => `c.search LIKE lower(${input.pattern}) OR c.id IN (
    SELECT u.case_id FROM customers u
     WHERE u.company_id = ${input.company_id} AND u.removed_at IS NULL AND (${customerMatches(input)}))`,
});

export const showCase = read('cases.show', {
  inputs: { company_id: 'uuid', id: 'uuid' },
  sql: (input) => `SELECT ${record}::text FROM cases c WHERE c.company_id = ${input.company_id} AND c.id = ${input.id}`,
});

type Names = { company_id: string; fields: string; now: string };

/**
 * SQL: whether the case can become `d`. `old` is the case before, or NULLs for a new one: it may keep a kind and an adviser
 * that were removed from the company.
 */
const isPossible = ({ company_id, now }: Names, old: { kind: string; adviser: string }) => `
  (d.kind_id IS NULL OR d.kind_id = ${old.kind} OR EXISTS (${presentKind(company_id, 'd.kind_id')}))
  AND (d.responsible_adviser_id IS NULL OR d.responsible_adviser_id = ${old.adviser}
       OR EXISTS (${presentAdviser(company_id, 'd.responsible_adviser_id')}))
  AND ${areTimesPossible(now)}`;

/** SQL: false if the times of `d` contradict its state or each other. A case that is not open was closed by now. */
const areTimesPossible = (now: string) =>
  `CASE WHEN d.state = 'open' THEN d.closed_at IS NULL ELSE coalesce(d.closed_at, ${now}) >= d.opened_at END`;

const presentKind = (companyId: string, id: string) =>
  `SELECT 1 FROM case_kinds k WHERE k.company_id = ${companyId} AND k.id = ${id} AND k.removed_at IS NULL`;
const presentAdviser = (companyId: string, id: string) =>
  `SELECT 1 FROM advisers a WHERE a.company_id = ${companyId} AND a.id = ${id} AND a.removed_at IS NULL`;

const assigned = (now: string) =>
  CASE_COLUMNS.map((name) =>
    name === 'closed_at' ? `CASE WHEN d.state <> 'open' THEN coalesce(d.closed_at, ${now}) END` : `d.${name}`,
  ).join(', ');

/**
 * `fields` has every column, `customers` is an array as `insertCustomers` takes it. The event of the case precedes those
 * of its customers. Returns no row if the kind or the adviser is unknown, the times contradict each other, or another
 * case has the external id.
 */
export const insertCase = write('cases.insert', {
  inputs: {
    company_id: 'uuid',
    id: 'uuid',
    external_id: 'text?',
    fields: 'json',
    customers: 'json',
    now: 'timestamptz',
    origin: 'json',
  },
  sql: (input) => `
    WITH c AS (
      INSERT INTO cases (company_id, id, external_id, ${CASE_COLUMNS.join(', ')}, created_at, updated_at)
      SELECT ${input.company_id}, ${input.id}, ${input.external_id}, ${assigned(input.now)}, ${input.now}, ${input.now}
        FROM json_populate_record(NULL::cases, ${input.fields}) d
       WHERE ${isPossible(input, { kind: 'NULL', adviser: 'NULL' })}
      ON CONFLICT (company_id, external_id) WHERE external_id IS NOT NULL DO NOTHING
      RETURNING *
    ), u AS (
      ${insertCustomers('c', input.customers, input.now)} RETURNING *
    ), case_event AS (
      ${caseAudit.insertEvent('created', { from: 'c', at: input.now, origin: input.origin })} RETURNING 1
    ), customer_events AS (
      ${customerAudit.insertEvent('created', {
        from: 'u JOIN case_event ON true',
        at: input.now,
        origin: input.origin,
      })}
    )
    SELECT ${jsonObject(fieldsWith('u'))}::text FROM c`,
});

const EVENT_OF_NEW_STATE = { open: 'reopened', closed: 'closed', archived: 'archived' } as const;

/**
 * `fields` has only the columns to change. Returns no row if the case does not exist, the kind or the adviser is unknown,
 * or the times contradict the state or each other.
 */
export const updateCase = write('cases.update', {
  inputs: { company_id: 'uuid', id: 'uuid', fields: 'json', now: 'timestamptz', origin: 'json' },
  sql: (input) => {
    const event = (action: 'updated' | 'closed' | 'archived' | 'reopened', condition: string) =>
      caseAudit.insertEvent(action, {
        from: `c JOIN old ON ${condition}`,
        at: input.now,
        origin: input.origin,
        before: caseAudit.snapshotOf('old'),
      });
    const stateEvents = Object.entries(EVENT_OF_NEW_STATE).map(
      ([name, action]) => `, ${action} AS (
      ${event(action, `c.state = '${name}' AND old.state <> '${name}'`)}
    )`,
    );
    return `
    WITH old AS (
      SELECT c.* FROM cases c WHERE c.company_id = ${input.company_id} AND c.id = ${input.id} FOR NO KEY UPDATE
    ), c AS (
      UPDATE cases c
         SET (${CASE_COLUMNS.join(', ')}) = (
               SELECT ${assigned(input.now)} FROM json_populate_record(c, ${input.fields}) d),
             updated_at = ${input.now}
        FROM old WHERE c.company_id = old.company_id AND c.id = old.id
         AND (SELECT ${isPossible(input, { kind: 'c.kind_id', adviser: 'c.responsible_adviser_id' })}
                FROM json_populate_record(c, ${input.fields}) d)
      RETURNING c.*
    ), updated AS (
      ${event('updated', 'c.state = old.state')}
    )${stateEvents.join('')}
    SELECT ${record}::text FROM c`;
  },
});

/**
 * Tells why a case was not written; `id` is null for a new one. Returns no row if the case does not exist. `times` has the
 * sent state and times, `state` is that of the case with them.
 */
export const explainRejection = read('cases.explain_rejection', {
  inputs: {
    company_id: 'uuid',
    id: 'uuid?',
    kind_id: 'uuid?',
    responsible_adviser_id: 'uuid?',
    times: 'json',
    now: 'timestamptz',
  },
  sql: (input) => `
    SELECT d.state, (${areTimesPossible(input.now)}) IS NOT FALSE AS times_possible,
           ${input.kind_id} IS NULL OR c.kind_id IS NOT DISTINCT FROM ${input.kind_id}
             OR EXISTS (${presentKind(input.company_id, input.kind_id)}) AS kind_known,
           ${input.responsible_adviser_id} IS NULL
             OR c.responsible_adviser_id IS NOT DISTINCT FROM ${input.responsible_adviser_id}
             OR EXISTS (${presentAdviser(input.company_id, input.responsible_adviser_id)}) AS adviser_known
      FROM (VALUES (1)) one LEFT JOIN cases c ON c.company_id = ${input.company_id} AND c.id = ${input.id}
     CROSS JOIN LATERAL json_populate_record(c, ${input.times}) d
     WHERE ${input.id} IS NULL OR c.id IS NOT NULL`,
});
