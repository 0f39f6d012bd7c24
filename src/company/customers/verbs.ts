import { auditOrigin } from '../../kernel/audit/audit-log.ts';
import { retryOnConflict } from '../../kernel/database/optimistic-retry.ts';
import { assertBelowLimit } from '../../kernel/database/row-limit.ts';
import { invalidState, notFound } from '../../kernel/errors.ts';
import { newId } from '../../kernel/ids.ts';
import { toSql } from '../../kernel/time/time.ts';
import { phoneNumber, requireEmail, requirePhone } from '../../kernel/validation/contact.ts';
import type { Form } from '../../kernel/validation/form.ts';
import type { ListRequest, PageOfJson, RemovableListRequest } from '../../kernel/validation/paging.ts';
import { assertVisible } from '../../kernel/validation/single-line.ts';
import type { CompanyContext } from '../admin-context.ts';
import { readListPage } from '../list.ts';
import type { CustomerBody } from './schema.ts';
import * as sql from './statements.sql.ts';

export async function listCustomers(desk: CompanyContext, listing: RemovableListRequest): Promise<PageOfJson> {
  const lists = listing.removed ? sql.listRemovedCustomers : sql.listCustomers;
  return readListPage(desk.db, lists, [desk.company.id], listing, numberOf(desk, listing));
}

export async function listCaseCustomers(
  desk: CompanyContext,
  caseId: string,
  listing: RemovableListRequest,
): Promise<PageOfJson> {
  const lists = listing.removed ? sql.listRemovedCaseCustomers : sql.listCaseCustomers;
  return readListPage(desk.db, lists, [desk.company.id, caseId], listing, numberOf(desk, listing));
}

/** What is searched for, where it can be a phone number. */
export const numberOf = ({ company }: CompanyContext, { search }: ListRequest) =>
  (search && phoneNumber(search, company.phoneRegion)) || null;

export async function showCustomer({ db, company }: CompanyContext, caseId: string, id: string): Promise<string> {
  const record = await db.queryJson(sql.showCustomer, [company.id, caseId, id]);
  if (record === undefined) throw notFound('customer');
  return record;
}

export async function addCustomer(desk: CompanyContext, caseId: string, form: Form<CustomerBody>): Promise<string> {
  const { db, company, clock } = desk;
  const customer = JSON.stringify([newCustomer(desk, form, form.body, '')]);
  const values = [company.id, caseId, customer, toSql(clock()), auditOrigin(desk)];
  if (form.ok) await assertBelowLimit(db, sql.customerLimit, [company.id, caseId]);
  return retryOnConflict(
    async () => form.ok && db.queryJson(sql.insertCustomer, values),
    () => judge(desk, caseId, null, form),
  );
}

export async function changeCustomer(
  desk: CompanyContext,
  caseId: string,
  id: string,
  form: Form<CustomerBody>,
): Promise<string> {
  const { db, company, clock } = desk;
  const customer = JSON.stringify(readCustomer(desk, form, form.body, ''));
  const values = [company.id, caseId, id, customer, toSql(clock()), auditOrigin(desk)];
  return retryOnConflict(
    async () => form.ok && db.queryJson(sql.updateCustomer, values),
    () => judge(desk, caseId, id, form),
  );
}

export async function removeCustomer(desk: CompanyContext, caseId: string, id: string): Promise<string> {
  const { db, company, clock } = desk;
  const record = await db.queryJson(sql.removeCustomer, [company.id, caseId, id, toSql(clock()), auditOrigin(desk)]);
  if (record === undefined) throw notFound('customer');
  return record;
}

export function restoreCustomer(desk: CompanyContext, caseId: string, id: string): Promise<string> {
  const { db, company, clock } = desk;
  return retryOnConflict(
    () => db.queryJson(sql.restoreCustomer, [company.id, caseId, id, toSql(clock()), auditOrigin(desk)]),
    async () => {
      const found = await db.queryFirst<{ removed: boolean }>(sql.findCustomer, [company.id, caseId, id]);
      if (!found) throw notFound('customer');
      if (!found.removed) throw invalidState('removed_at', 'the customer is not removed');
    },
  );
}

type Columns = Partial<Record<(typeof sql.CUSTOMER_FIELDS)[number], string | null>>;

export const newCustomer = (desk: CompanyContext, form: Form<unknown>, body: CustomerBody, prefix: string) => ({
  id: newId(),
  title: '',
  first_names: '',
  ...readCustomer(desk, form, body, prefix),
});

/** What was sent, as the columns hold it; `prefix` is where in the form it stands. */
function readCustomer({ company }: CompanyContext, form: Form<unknown>, body: CustomerBody, prefix: string): Columns {
  const { title, first_names, last_name, email, phone } = body;
  const columns: Columns = {};
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

/** Nothing was written: throws the reason, or returns where another change came between and it can be tried again. */
async function judge(
  { db, company }: CompanyContext,
  caseId: string,
  id: string | null,
  form: Form<CustomerBody>,
): Promise<void> {
  const judged = await db.queryFirst<{ found: boolean }>(sql.judgeCustomer, [company.id, caseId, id]);
  if (!judged?.found) throw notFound(id === null ? 'case' : 'customer');
  form.check();
}
