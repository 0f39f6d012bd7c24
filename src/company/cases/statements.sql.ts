import { imageAuditLog } from '../../kernel/audit/audit-log.ts';
import { isoTime, jsonObject, statement } from '../../kernel/sql/statement.ts';
import {
  CUSTOMER_ORDER,
  customerLog,
  customerMatches,
  customerRecord,
  insertCustomers,
} from '../customers/statements.sql.ts';
import { listStatements } from '../list.sql.ts';

const own = { id: 'c.id', reference: 'c.reference' };
const times = { created_at: isoTime('c.created_at'), updated_at: isoTime('c.updated_at') };
const record = (customers: string) =>
  jsonObject({
    ...own,
    customers: `(SELECT coalesce(json_agg(${customerRecord} ORDER BY ${CUSTOMER_ORDER}), '[]') FROM ${customers})`,
    ...times,
  });
const stored = record('customers u WHERE u.company_id = c.company_id AND u.case_id = c.id AND u.removed_at IS NULL');

export const caseLog = imageAuditLog({
  record: 'case',
  verbs: ['created', 'updated'],
  path: '/manage/cases/{caseId}',
  params: { caseId: 'case' },
  access: 'manage',
  table: 'cases',
  as: 'c',
  key: { case: 'c.id' },
  image: jsonObject({ ...own, ...times }),
});

/** IN and not EXISTS: the customers are looked through once, and not once per case. */
export const listCases = listStatements('cases', {
  scope: 1,
  from: 'cases c WHERE c.company_id = $1',
  as: 'c',
  element: stored,
  order: 'c.created_at DESC, c.id DESC',
  matches: (pattern, number) => `c.search LIKE lower(${pattern}) OR c.id IN (
    SELECT u.case_id FROM customers u
     WHERE u.company_id = $1 AND u.removed_at IS NULL AND (${customerMatches(pattern, number)}))`,
});

/** $1 company, $2 id */
export const showCase = statement(
  'cases.show',
  `SELECT ${stored}::text FROM cases c WHERE c.company_id = $1 AND c.id = $2`,
);

/**
 * $1 company, $2 id, $3 reference, $4 customers as JSON, $5 now, $6 origin. The case stands in the log before its
 * customers.
 */
export const insertCase = statement(
  'cases.insert',
  `WITH c AS (
     INSERT INTO cases (company_id, id, reference, created_at, updated_at) VALUES ($1, $2, $3, $5, $5) RETURNING *
   ), u AS (
     ${insertCustomers('c', '$4', '$5')} RETURNING *
   ), e AS (
     ${caseLog.insertEvent('created', { from: 'c', at: '$5', origin: '$6' })} RETURNING 1
   ), f AS (
     ${customerLog.insertEvent('created', { from: 'u JOIN e ON true', at: '$5', origin: '$6' })}
   )
   SELECT ${record('u')}::text FROM c`,
);

/** $1 company, $2 id, $3 reference or null, $4 now, $5 origin */
export const updateCase = statement(
  'cases.update',
  `WITH old AS (
     SELECT c.* FROM cases c WHERE c.company_id = $1 AND c.id = $2 FOR NO KEY UPDATE
   ), c AS (
     UPDATE cases c SET reference = coalesce($3, c.reference), updated_at = $4
       FROM old WHERE c.company_id = old.company_id AND c.id = old.id
     RETURNING c.*
   ), e AS (
     ${caseLog.insertEvent('updated', { from: 'c', at: '$4', origin: '$5', before: caseLog.snapshotOf('old') })}
   )
   SELECT ${stored}::text FROM c`,
);
