import { auditOrigin } from '../../kernel/audit/audit-log.ts';
import { retryOnConflict } from '../../kernel/database/optimistic-retry.ts';
import { assertBelowLimit } from '../../kernel/database/row-limit.ts';
import { invalidState, notFound } from '../../kernel/errors.ts';
import { refuseTakenExternalId, requireFreeExternalId } from '../../kernel/external-ids/verbs.ts';
import { newId } from '../../kernel/ids.ts';
import { toSql } from '../../kernel/time/time.ts';
import { requireEmail } from '../../kernel/validation/email.ts';
import type { Form } from '../../kernel/validation/form.ts';
import type { ListRequest, PageOfJson, RemovableListRequest } from '../../kernel/validation/paging.ts';
import { phoneNumber, requirePhone } from '../../kernel/validation/phone.ts';
import { assertVisible } from '../../kernel/validation/single-line.ts';
import type { CompanyContext } from '../admin-context.ts';
import { readListPage } from '../list.ts';
import type { CustomerBody } from './schema.ts';
import * as sql from './statements.sql.ts';

export { customerIds } from './statements.sql.ts';

export async function listCustomers(context: CompanyContext, request: RemovableListRequest): Promise<PageOfJson> {
  const statements = request.removed ? sql.listRemovedCustomers : sql.listCustomers;
  const values = { company_id: context.company.id, phone_e164: searchedPhone(context, request) };
  return readListPage(context.db, statements, values, request);
}

export async function listCaseCustomers(
  context: CompanyContext,
  caseId: string,
  request: RemovableListRequest,
): Promise<PageOfJson> {
  const statements = request.removed ? sql.listRemovedCaseCustomers : sql.listCaseCustomers;
  const values = { company_id: context.company.id, case_id: caseId, phone_e164: searchedPhone(context, request) };
  return readListPage(context.db, statements, values, request);
}

/** Returns the search text as an E.164 number, or null if it is not a phone number. */
export const searchedPhone = ({ company }: CompanyContext, { search }: ListRequest) =>
  (search && phoneNumber(search, company.phoneRegion)) || null;

export async function showCustomer({ db, company }: CompanyContext, caseId: string, id: string): Promise<string> {
  const record = await db.queryJson(sql.showCustomer({ company_id: company.id, case_id: caseId, id }));
  if (record === undefined) throw notFound('customer');
  return record;
}

export async function createCustomer(
  context: CompanyContext,
  caseId: string,
  form: Form<CustomerBody>,
  externalId?: string,
): Promise<string> {
  const { db, company, clock } = context;
  const caseValues = { company_id: company.id, case_id: caseId };
  const values = {
    ...caseValues,
    customers: JSON.stringify([{ ...readNewCustomer(context, form, form.body, ''), external_id: externalId }]),
    now: toSql(clock()),
    origin: auditOrigin(context),
  };
  if (form.ok) await assertBelowLimit(db, sql.customerLimit, caseValues);
  return retryOnConflict(
    async () => form.ok && db.queryJson(sql.insertCustomer(values)),
    async () => {
      await requireFreeExternalId(context, sql.customerIds, form, externalId);
      await explainRejection(context, caseId, null, form);
    },
  );
}

export async function updateCustomer(
  context: CompanyContext,
  caseId: string,
  id: string,
  form: Form<CustomerBody>,
): Promise<string> {
  const { db, company, clock } = context;
  const values = {
    company_id: company.id,
    case_id: caseId,
    id,
    fields: JSON.stringify(readCustomer(context, form, form.body, '')),
    now: toSql(clock()),
    origin: auditOrigin(context),
  };
  return retryOnConflict(
    async () => form.ok && db.queryJson(sql.updateCustomer(values)),
    () => explainRejection(context, caseId, id, form),
  );
}

export async function removeCustomer(context: CompanyContext, caseId: string, id: string): Promise<string> {
  const { db, company, clock } = context;
  const record = await db.queryJson(
    sql.removeCustomer({
      company_id: company.id,
      case_id: caseId,
      id,
      now: toSql(clock()),
      origin: auditOrigin(context),
    }),
  );
  if (record === undefined) throw notFound('customer');
  return record;
}

export function restoreCustomer(context: CompanyContext, caseId: string, id: string): Promise<string> {
  const { db, company, clock } = context;
  const key = { company_id: company.id, case_id: caseId, id };
  return retryOnConflict(
    () =>
      db
        .queryJson(sql.restoreCustomer({ ...key, now: toSql(clock()), origin: auditOrigin(context) }))
        .catch(refuseTakenExternalId(sql.customerIds)),
    async () => {
      const found = await db.queryFirst<{ removed: boolean }>(sql.findCustomer(key));
      if (!found) throw notFound('customer');
      if (!found.removed) throw invalidState('removed_at', 'the customer is not removed');
    },
  );
}

type CustomerColumns = Partial<Record<(typeof sql.CUSTOMER_COLUMNS)[number], string | null>>;

export const readNewCustomer = (context: CompanyContext, form: Form<unknown>, body: CustomerBody, prefix: string) => ({
  id: newId(),
  title: '',
  first_names: '',
  ...readCustomer(context, form, body, prefix),
});

/** Returns the sent fields as column values. `prefix` is the path of the customer within the form. */
function readCustomer(
  { company }: CompanyContext,
  form: Form<unknown>,
  body: CustomerBody,
  prefix: string,
): CustomerColumns {
  const { title, first_names, last_name, email, phone } = body;
  const columns: CustomerColumns = {};
  if (title !== undefined) columns.title = title ?? '';
  if (first_names !== undefined) columns.first_names = first_names ?? '';
  if (last_name !== undefined) columns.last_name = last_name;
  if (email !== undefined) columns.email = email;
  if (phone !== undefined) columns.phone = phone;
  for (const [name, value] of Object.entries({ title, first_names, last_name })) {
    form.read(`${prefix}${name}`, value, assertVisible);
  }
  form.read(`${prefix}email`, email, requireEmail);
  const number = form.read(`${prefix}phone`, phone, (text) => requirePhone(text, company.phoneRegion));
  if (phone !== undefined) columns.phone_e164 = number ?? null;
  return columns;
}

/**
 * Throws the reason why nothing was written. Returns if a concurrent change was the reason, so the write is retried.
 */
async function explainRejection(
  { db, company }: CompanyContext,
  caseId: string,
  id: string | null,
  form: Form<CustomerBody>,
): Promise<void> {
  const rejection = await db.queryFirst<{ found: boolean }>(
    sql.explainRejection({ company_id: company.id, case_id: caseId, id }),
  );
  if (!rejection?.found) throw notFound(id === null ? 'case' : 'customer');
  form.check();
}
