import { iso, json, statement } from '../../kernel/sql.ts';
import { lists } from '../listing.sql.ts';
import { CUSTOMER_ORDER, customerMatches, customerRecord, insertInto } from './customers.sql.ts';

const record = (customers: string) =>
  json({
    id: 'c.id',
    reference: 'c.reference',
    customers: `(SELECT coalesce(json_agg(${customerRecord} ORDER BY ${CUSTOMER_ORDER}), '[]') FROM ${customers})`,
    created_at: iso('c.created_at'),
    updated_at: iso('c.updated_at'),
  });
const stored = record('customers u WHERE u.company_id = c.company_id AND u.case_id = c.id AND u.removed_at IS NULL');

/** IN and not EXISTS: the customers are looked through once, and not once per case. */
export const listCases = lists('cases', {
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

/** $1 company, $2 id, $3 reference, $4 customers as JSON, $5 now */
export const insertCase = statement(
  'cases.insert',
  `WITH c AS (
     INSERT INTO cases (company_id, id, reference, created_at, updated_at) VALUES ($1, $2, $3, $5, $5) RETURNING *
   ), u AS (
     ${insertInto('c', '$4', '$5')} RETURNING *
   )
   SELECT ${record('u')}::text FROM c`,
);

/** $1 company, $2 id, $3 reference or null, $4 now */
export const updateCase = statement(
  'cases.update',
  `UPDATE cases c SET reference = coalesce($3, c.reference), updated_at = $4 WHERE c.company_id = $1 AND c.id = $2
   RETURNING ${stored}::text`,
);
