import { caseKey, imageAuditLog } from '../../kernel/audit/audit-log.ts';
import { isoTime, jsonObject, rowLimit, statement } from '../../kernel/sql/statement.ts';
import { listStatements } from '../list.sql.ts';

/** What is stored of a customer; but for `phone_e164` the names are also the wire's. */
export const CUSTOMER_FIELDS = ['title', 'first_names', 'last_name', 'email', 'phone', 'phone_e164'] as const;

const fields = CUSTOMER_FIELDS.join(', ');

const shown = {
  id: 'u.id',
  case_id: 'u.case_id',
  title: 'u.title',
  first_names: 'u.first_names',
  last_name: 'u.last_name',
  email: 'u.email',
  phone: 'u.phone',
  created_at: isoTime('u.created_at'),
  updated_at: isoTime('u.updated_at'),
};

export const customerRecord = jsonObject(shown);

export const customerLog = imageAuditLog({
  record: 'customer',
  verbs: ['created', 'updated', 'removed', 'restored'],
  path: '/manage/cases/{caseId}/customers/{customerId}',
  params: { caseId: 'case', customerId: 'customer' },
  access: 'manage',
  table: 'customers',
  as: 'u',
  key: caseKey('u'),
  image: jsonObject({ ...shown, removed_at: isoTime('u.removed_at') }),
});

/** In the order in which they came. */
export const CUSTOMER_ORDER = 'u.created_at, u.id';

const here = 'u.company_id = $1 AND u.case_id = $2 AND u.removed_at IS NULL';

const removed = 'u.company_id = $1 AND u.case_id = $2 AND u.removed_at IS NOT NULL';

/** `number`: the search as E.164, where it can be read as a phone number. */
export const customerMatches = (pattern: string, number: string) =>
  `u.search LIKE lower(${pattern}) OR u.phone_e164 = ${number}`;

const listOf = (name: string, which: string) =>
  listStatements(name, {
    scope: 1,
    from: `customers u WHERE u.company_id = $1 AND ${which}`,
    as: 'u',
    element: customerRecord,
    order: 'lower(u.last_name), lower(u.first_names), u.id',
    matches: customerMatches,
  });

export const listCustomers = listOf('customers', 'u.removed_at IS NULL');
export const listRemovedCustomers = listOf('removed_customers', 'u.removed_at IS NOT NULL');

const listOfCase = (name: string, which: string) =>
  listStatements(name, {
    scope: 2,
    from: `customers u WHERE ${which}`,
    as: 'u',
    element: customerRecord,
    order: CUSTOMER_ORDER,
    matches: customerMatches,
    within: 'cases c WHERE c.company_id = $1 AND c.id = $2',
  });

export const listCaseCustomers = listOfCase('case_customers', here);
export const listRemovedCaseCustomers = listOfCase('removed_case_customers', removed);

/** $1 company, $2 case, $3 id */
export const showCustomer = statement(
  'customers.show',
  `SELECT ${customerRecord}::text FROM customers u WHERE ${here} AND u.id = $3`,
);

/** $1 company, $2 case: removed ones too, which can be restored */
export const customerLimit = rowLimit(
  'customers of a case',
  1_000,
  'FROM customers WHERE company_id = $1 AND case_id = $2',
);

/** Customers of the case in `scope`, from a JSON array in which each has its id; `now` is a parameter. */
export const insertCustomers = (scope: string, customers: string, now: string): string =>
  `INSERT INTO customers AS u (company_id, case_id, id, ${fields}, created_at, updated_at)
   SELECT c.company_id, c.id, d.id, ${CUSTOMER_FIELDS.map((name) => `d.${name}`).join(', ')}, ${now}, ${now}
     FROM ${scope} c, json_populate_recordset(NULL::customers, ${customers}) d`;

/** $1 company, $2 case, $3 the customer as JSON, $4 now, $5 origin */
export const insertCustomer = statement(
  'customers.insert',
  `WITH scope AS (
     SELECT company_id, id FROM cases WHERE company_id = $1 AND id = $2
   ), u AS (
     ${insertCustomers('scope', '$3', '$4')} RETURNING *
   ), e AS (
     ${customerLog.insertEvent('created', { from: 'u', at: '$4', origin: '$5' })}
   )
   SELECT ${customerRecord}::text FROM u`,
);

const old = (condition: string) =>
  `old AS (SELECT u.* FROM customers u WHERE ${condition} AND u.id = $3 FOR NO KEY UPDATE)`;
const isOld = 'u.company_id = old.company_id AND u.case_id = old.case_id AND u.id = old.id';
const before = customerLog.snapshotOf('old');

/** $1 company, $2 case, $3 id, $4 what was sent as JSON, $5 now, $6 origin */
export const updateCustomer = statement(
  'customers.update',
  `WITH ${old(here)}, u AS (
     UPDATE customers u SET (${fields}) = (SELECT ${fields} FROM json_populate_record(u, $4)), updated_at = $5
       FROM old WHERE ${isOld}
     RETURNING u.*
   ), e AS (
     ${customerLog.insertEvent('updated', { from: 'u', at: '$5', origin: '$6', before })}
   )
   SELECT ${customerRecord}::text FROM u`,
);

/**
 * $1 company, $2 case, $3 id, $4 now, $5 origin. Relationships keep the customer, appointments and invoices what they
 * wrote down.
 */
export const removeCustomer = statement(
  'customers.remove',
  `WITH ${old(here)}, u AS (
     UPDATE customers u SET removed_at = $4, updated_at = $4 FROM old WHERE ${isOld}
     RETURNING u.*
   ), e AS (
     ${customerLog.insertEvent('removed', { from: 'u', at: '$4', origin: '$5', before })}
   )
   SELECT ${jsonObject({ id: 'u.id', removed_at: isoTime('u.removed_at') })}::text FROM u`,
);

/** $1 company, $2 case, $3 id, $4 now, $5 origin. Nothing where it is not removed. */
export const restoreCustomer = statement(
  'customers.restore',
  `WITH ${old(removed)}, u AS (
     UPDATE customers u SET removed_at = NULL, updated_at = $4 FROM old WHERE ${isOld}
     RETURNING u.*
   ), e AS (
     ${customerLog.insertEvent('restored', { from: 'u', at: '$4', origin: '$5', before })}
   )
   SELECT ${customerRecord}::text FROM u`,
);

/** $1 company, $2 case, $3 id. A removed one is found too. */
export const findCustomer = statement(
  'customers.find',
  `SELECT removed_at IS NOT NULL AS removed FROM customers WHERE company_id = $1 AND case_id = $2 AND id = $3`,
);

/** $1 company, $2 case, $3 the customer that is being changed or null */
export const judgeCustomer = statement(
  'customers.judge',
  `SELECT ($3::uuid IS NULL OR EXISTS (SELECT 1 FROM customers u WHERE ${here} AND u.id = $3)) AS found
     FROM cases c WHERE c.company_id = $1 AND c.id = $2`,
);
