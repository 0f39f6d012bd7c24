import { imageAuditLog } from '../../kernel/audit/audit-log.ts';
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

const identity = { id: 'c.id', reference: 'c.reference' };
const times = { created_at: isoTime('c.created_at'), updated_at: isoTime('c.updated_at') };
const fieldsWith = (customers: string) => ({
  ...identity,
  customers: `(SELECT coalesce(json_agg(${customerRecord} ORDER BY ${CUSTOMER_ORDER}), '[]') FROM ${customers})`,
  ...times,
});
export const recordFields = fieldsWith(
  'customers u WHERE u.company_id = c.company_id AND u.case_id = c.id AND u.removed_at IS NULL',
);
const record = jsonObject(recordFields);

export const caseAudit = imageAuditLog({
  record: 'case',
  actions: ['created', 'updated'],
  path: '/manage/cases/{caseId}',
  params: { caseId: 'case' },
  access: 'manage',
  table: 'cases',
  as: 'c',
  key: { case: 'c.id' },
  image: jsonObject({ ...identity, ...times }),
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

/** `customers` is an array as `insertCustomers` takes it. The event of the case precedes those of its customers. */
export const insertCase = write('cases.insert', {
  inputs: {
    company_id: 'uuid',
    id: 'uuid',
    reference: 'text',
    customers: 'json',
    now: 'timestamptz',
    origin: 'json',
  },
  sql: (input) => `
    WITH c AS (
      INSERT INTO cases (company_id, id, reference, created_at, updated_at)
      VALUES (${input.company_id}, ${input.id}, ${input.reference}, ${input.now}, ${input.now})
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

/** Null leaves the reference as it is. Returns no row if the case does not exist. */
export const updateCase = write('cases.update', {
  inputs: { company_id: 'uuid', id: 'uuid', reference: 'text?', now: 'timestamptz', origin: 'json' },
  sql: (input) => `
    WITH old AS (
      SELECT c.* FROM cases c WHERE c.company_id = ${input.company_id} AND c.id = ${input.id} FOR NO KEY UPDATE
    ), c AS (
      UPDATE cases c SET reference = coalesce(${input.reference}, c.reference), updated_at = ${input.now}
        FROM old WHERE c.company_id = old.company_id AND c.id = old.id
      RETURNING c.*
    ), event AS (
      ${caseAudit.insertEvent('updated', {
        from: 'c',
        at: input.now,
        origin: input.origin,
        before: caseAudit.snapshotOf('old'),
      })}
    )
    SELECT ${record}::text FROM c`,
});
