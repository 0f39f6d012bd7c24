import { caseKey, imageAuditLog } from '../../kernel/audit/audit-log.ts';
import { externalIds } from '../../kernel/external-ids/statements.sql.ts';
import { CASE_ACCESS } from '../../kernel/scopes.ts';
import { isoTime, jsonObject } from '../../kernel/sql/json.ts';
import { read, rowLimit, write } from '../../kernel/sql/statement.ts';
import { listStatements } from '../list.sql.ts';

/** The columns that a request sets. Except `phone_e164`, JSON fields have the same names. */
export const CUSTOMER_COLUMNS = ['title', 'first_names', 'last_name', 'email', 'phone', 'phone_e164'] as const;

const columns = CUSTOMER_COLUMNS.join(', ');

const recordFields = {
  id: 'u.id',
  case_id: 'u.case_id',
  external_id: 'u.external_id',
  title: 'u.title',
  first_names: 'u.first_names',
  last_name: 'u.last_name',
  email: 'u.email',
  phone: 'u.phone',
  created_at: isoTime('u.created_at'),
  updated_at: isoTime('u.updated_at'),
};

export const customerRecord = jsonObject(recordFields);

export const customerAudit = imageAuditLog({
  record: 'customer',
  actions: ['created', 'updated', 'removed', 'restored'],
  path: '/manage/cases/{caseId}/customers/{customerId}',
  params: { caseId: 'case', customerId: 'customer' },
  access: CASE_ACCESS.read,
  table: 'customers',
  as: 'u',
  key: caseKey('u'),
  image: jsonObject({ ...recordFields, removed_at: isoTime('u.removed_at') }),
});

/** The order in which the customers of a case were added. */
export const CUSTOMER_ORDER = 'u.created_at, u.id';

type CaseInput = { company_id: string; case_id: string };

const isPresent = (input: CaseInput) =>
  `u.company_id = ${input.company_id} AND u.case_id = ${input.case_id} AND u.removed_at IS NULL`;
const isRemoved = (input: CaseInput) =>
  `u.company_id = ${input.company_id} AND u.case_id = ${input.case_id} AND u.removed_at IS NOT NULL`;

/** SQL: whether the customer `u` matches a search. `phone_e164` is null if the search text is not a phone number. */
export const customerMatches = (input: { pattern: string; phone_e164: string }) =>
  `u.search LIKE lower(${input.pattern}) OR u.phone_e164 = ${input.phone_e164}`;

const companyList = (name: string, condition: string) =>
  listStatements(name, {
    inputs: { company_id: 'uuid' },
    searchInputs: { phone_e164: 'text?' },
    table: 'customers',
    alias: 'u',
    where: (input) => `u.company_id = ${input.company_id} AND ${condition}`,
    element: customerRecord,
    order: 'lower(u.last_name), lower(u.first_names), u.id',
    matches: customerMatches,
  });

export const listCustomers = companyList('customers', 'u.removed_at IS NULL');
export const listRemovedCustomers = companyList('removed_customers', 'u.removed_at IS NOT NULL');

const caseList = (name: string, where: (input: CaseInput) => string) =>
  listStatements(name, {
    inputs: { company_id: 'uuid', case_id: 'uuid' },
    searchInputs: { phone_e164: 'text?' },
    table: 'customers',
    alias: 'u',
    where,
    element: customerRecord,
    order: CUSTOMER_ORDER,
    matches: customerMatches,
    parent: (input) => `cases c WHERE c.company_id = ${input.company_id} AND c.id = ${input.case_id}`,
  });

export const listCaseCustomers = caseList('case_customers', isPresent);
export const listRemovedCaseCustomers = caseList('removed_case_customers', isRemoved);

export const showCustomer = read('customers.show', {
  inputs: { company_id: 'uuid', case_id: 'uuid', id: 'uuid' },
  sql: (input) => `SELECT ${customerRecord}::text FROM customers u WHERE ${isPresent(input)} AND u.id = ${input.id}`,
});

/** Counts removed customers too, because they can be restored. */
export const customerLimit = rowLimit('customers of a case', 1_000, {
  inputs: { company_id: 'uuid', case_id: 'uuid' },
  rows: (input) => `FROM customers WHERE company_id = ${input.company_id} AND case_id = ${input.case_id}`,
});

/**
 * SQL: inserts customers of the case in the table expression `cases`. `customers` is a JSON array of objects with an id,
 * an external id and the columns. A customer whose external id is in use is left out.
 */
export const insertCustomers = (cases: string, customers: string, now: string): string =>
  `INSERT INTO customers AS u (company_id, case_id, id, external_id, ${columns}, created_at, updated_at)
   SELECT c.company_id, c.id, d.id, d.external_id, ${CUSTOMER_COLUMNS.map((name) => `d.${name}`).join(', ')}, ${now}, ${now}
     FROM ${cases} c, json_populate_recordset(NULL::customers, ${customers}) d
   ON CONFLICT (company_id, external_id) WHERE external_id IS NOT NULL AND removed_at IS NULL DO NOTHING`;

/** `customers` is an array with one customer. Returns no row if the case does not exist or the external id is in use. */
export const insertCustomer = write('customers.insert', {
  inputs: { company_id: 'uuid', case_id: 'uuid', customers: 'json', now: 'timestamptz', origin: 'json' },
  sql: (input) => `
    WITH parent AS (
      SELECT company_id, id FROM cases WHERE company_id = ${input.company_id} AND id = ${input.case_id}
    ), u AS (
      ${insertCustomers('parent', input.customers, input.now)} RETURNING *
    ), event AS (
      ${customerAudit.insertEvent('created', { from: 'u', at: input.now, origin: input.origin })}
    )
    SELECT ${customerRecord}::text FROM u`,
});

const lockCustomer = (condition: string, id: string) =>
  `old AS (SELECT u.* FROM customers u WHERE ${condition} AND u.id = ${id} FOR NO KEY UPDATE)`;
const isOld = 'u.company_id = old.company_id AND u.case_id = old.case_id AND u.id = old.id';
const before = customerAudit.snapshotOf('old');

export const customerIds = externalIds({
  noun: 'customer',
  table: 'customers',
  as: 'u',
  where: 'u.removed_at IS NULL',
  update: (set, input) => `old AS (
      SELECT u.*, input.nth FROM customers u JOIN input ON ${isPresent(input)} AND u.id = ${input.id}
         FOR NO KEY UPDATE OF u
    ), u AS (
      UPDATE customers u SET ${set}, updated_at = input.now FROM old JOIN input USING (nth) WHERE ${isOld}
      RETURNING u.*, input.nth
    ), event AS (
      ${customerAudit.insertEvent('updated', {
        from: 'u JOIN input USING (nth)',
        at: 'input.now',
        origin: 'input.origin',
        before,
      })}
    )`,
});

const MAX_FORMER_EMAILS = 10;
/** SQL: the earlier addresses of the customer `u` whose new values are in `d`. */
const formerEmails = `CASE WHEN lower(d.email) IS NOT DISTINCT FROM lower(u.email) OR coalesce(u.email, '') = ''
                    THEN u.former_emails
                    ELSE (lower(u.email) || u.former_emails)[1:${MAX_FORMER_EMAILS}] END`;

/** `fields` has only the columns to change. Returns no row if the customer does not exist. */
export const updateCustomer = write('customers.update', {
  inputs: {
    company_id: 'uuid',
    case_id: 'uuid',
    id: 'uuid',
    fields: 'json',
    now: 'timestamptz',
    origin: 'json',
  },
  sql: (input) => `
    WITH ${lockCustomer(isPresent(input), input.id)}, u AS (
      UPDATE customers u
         SET (${columns}, former_emails) = (
               SELECT ${CUSTOMER_COLUMNS.map((name) => `d.${name}`).join(', ')}, ${formerEmails}
                 FROM json_populate_record(u, ${input.fields}) d),
             updated_at = ${input.now}
        FROM old WHERE ${isOld}
      RETURNING u.*
    ), event AS (
      ${customerAudit.insertEvent('updated', { from: 'u', at: input.now, origin: input.origin, before })}
    )
    SELECT ${customerRecord}::text FROM u`,
});

/**
 * Returns no row if the customer does not exist. Relationships keep the customer; appointments and invoices keep the
 * email and the names they were created with.
 */
export const removeCustomer = write('customers.remove', {
  inputs: { company_id: 'uuid', case_id: 'uuid', id: 'uuid', now: 'timestamptz', origin: 'json' },
  sql: (input) => `
    WITH ${lockCustomer(isPresent(input), input.id)}, u AS (
      UPDATE customers u SET removed_at = ${input.now}, updated_at = ${input.now} FROM old WHERE ${isOld}
      RETURNING u.*
    ), event AS (
      ${customerAudit.insertEvent('removed', { from: 'u', at: input.now, origin: input.origin, before })}
    )
    SELECT ${jsonObject({ id: 'u.id', removed_at: isoTime('u.removed_at') })}::text FROM u`,
});

/** Returns no row if the customer is not removed. */
export const restoreCustomer = write('customers.restore', {
  inputs: { company_id: 'uuid', case_id: 'uuid', id: 'uuid', now: 'timestamptz', origin: 'json' },
  sql: (input) => `
    WITH ${lockCustomer(isRemoved(input), input.id)}, u AS (
      UPDATE customers u SET removed_at = NULL, updated_at = ${input.now} FROM old WHERE ${isOld}
      RETURNING u.*
    ), event AS (
      ${customerAudit.insertEvent('restored', { from: 'u', at: input.now, origin: input.origin, before })}
    )
    SELECT ${customerRecord}::text FROM u`,
});

/** Finds removed customers too. */
export const findCustomer = read('customers.find', {
  inputs: { company_id: 'uuid', case_id: 'uuid', id: 'uuid' },
  sql: (input) => `
    SELECT removed_at IS NOT NULL AS removed FROM customers
     WHERE company_id = ${input.company_id} AND case_id = ${input.case_id} AND id = ${input.id}`,
});

/** Tells why a customer was not written. `id` is null for a new customer. Returns no row if the case does not exist. */
export const explainRejection = read('customers.explain_rejection', {
  inputs: { company_id: 'uuid', case_id: 'uuid', id: 'uuid?' },
  sql: (input) => `
    SELECT (${input.id} IS NULL
            OR EXISTS (SELECT 1 FROM customers u WHERE ${isPresent(input)} AND u.id = ${input.id})) AS found
      FROM cases c WHERE c.company_id = ${input.company_id} AND c.id = ${input.case_id}`,
});
