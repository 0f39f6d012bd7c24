import { phoneNumber, requireEmail, requirePhone } from '../../kernel/validation/contact.ts';
import { notFound, notPossible } from '../../kernel/errors.ts';
import type { Form } from '../../kernel/validation/form.ts';
import { newId } from '../../kernel/ids.ts';
import { requireName } from '../../kernel/validation/single-line.ts';
import type { Listing, PageOfJson, RemovableListing } from '../../kernel/validation/paging.ts';
import { originOf } from '../../kernel/audit/audit-log.ts';
import { requireRoom } from '../../kernel/database/row-limit.ts';
import { toSql } from '../../kernel/time/time.ts';
import { untilWritten } from '../../kernel/database/optimistic-retry.ts';
import { readPage } from '../list.ts';
import type { Desk } from '../admin-context.ts';
import type { CustomerBody } from './schema.ts';
import * as sql from './statements.sql.ts';

export async function listCustomers(desk: Desk, listing: RemovableListing): Promise<PageOfJson> {
  const lists = listing.removed ? sql.listRemovedCustomers : sql.listCustomers;
  return readPage(desk.db, lists, [desk.company.id], listing, numberOf(desk, listing));
}

export async function listCaseCustomers(desk: Desk, caseId: string, listing: RemovableListing): Promise<PageOfJson> {
  const lists = listing.removed ? sql.listRemovedCaseCustomers : sql.listCaseCustomers;
  return readPage(desk.db, lists, [desk.company.id, caseId], listing, numberOf(desk, listing));
}

/** What is searched for, where it can be a phone number. */
export const numberOf = ({ company }: Desk, { search }: Listing) =>
  (search && phoneNumber(search, company.phoneRegion)) || null;

export async function showCustomer({ db, company }: Desk, caseId: string, id: string): Promise<string> {
  const record = await db.json(sql.showCustomer, [company.id, caseId, id]);
  if (record === undefined) throw notFound('customer');
  return record;
}

export async function addCustomer(desk: Desk, caseId: string, form: Form<CustomerBody>): Promise<string> {
  const { db, company, clock } = desk;
  const customer = JSON.stringify([newCustomer(desk, form, form.body, '')]);
  const values = [company.id, caseId, customer, toSql(clock()), originOf(desk)];
  if (form.ok) await requireRoom(db, sql.customerLimit, [company.id, caseId]);
  return untilWritten(
    async () => form.ok && db.json(sql.insertCustomer, values),
    () => judge(desk, caseId, null, form),
  );
}

export async function changeCustomer(
  desk: Desk,
  caseId: string,
  id: string,
  form: Form<CustomerBody>,
): Promise<string> {
  const { db, company, clock } = desk;
  const customer = JSON.stringify(readCustomer(desk, form, form.body, ''));
  const values = [company.id, caseId, id, customer, toSql(clock()), originOf(desk)];
  return untilWritten(
    async () => form.ok && db.json(sql.updateCustomer, values),
    () => judge(desk, caseId, id, form),
  );
}

export async function removeCustomer(desk: Desk, caseId: string, id: string): Promise<string> {
  const { db, company, clock } = desk;
  const record = await db.json(sql.removeCustomer, [company.id, caseId, id, toSql(clock()), originOf(desk)]);
  if (record === undefined) throw notFound('customer');
  return record;
}

export function restoreCustomer(desk: Desk, caseId: string, id: string): Promise<string> {
  const { db, company, clock } = desk;
  return untilWritten(
    () => db.json(sql.restoreCustomer, [company.id, caseId, id, toSql(clock()), originOf(desk)]),
    async () => {
      const found = await db.first<{ removed: boolean }>(sql.findCustomer, [company.id, caseId, id]);
      if (!found) throw notFound('customer');
      if (!found.removed) throw notPossible('removed_at', 'the customer is not removed');
    },
  );
}

type Columns = Partial<Record<(typeof sql.CUSTOMER_FIELDS)[number], string | null>>;

export const newCustomer = (desk: Desk, form: Form<unknown>, body: CustomerBody, prefix: string) => ({
  id: newId(),
  title: '',
  first_names: '',
  ...readCustomer(desk, form, body, prefix),
});

/** What was sent, as the columns hold it; `prefix` is where in the form it stands. */
function readCustomer({ company }: Desk, form: Form<unknown>, body: CustomerBody, prefix: string): Columns {
  const { title, first_names, last_name, email, phone } = body;
  const columns: Columns = {};
  if (title !== undefined) columns.title = title ?? '';
  if (first_names !== undefined) columns.first_names = first_names ?? '';
  if (last_name !== undefined) columns.last_name = last_name;
  if (email !== undefined) columns.email = email;
  if (phone !== undefined) columns.phone = phone;
  for (const [name, value] of Object.entries({ title, first_names, last_name })) {
    form.read(`${prefix}${name}`, value, requireName);
  }
  form.read(`${prefix}email`, email, requireEmail);
  const number = form.read(`${prefix}phone`, phone, (text) => requirePhone(text, company.phoneRegion));
  if (phone !== undefined) columns.phone_e164 = number ?? null;
  return columns;
}

/** Nothing was written: throws the reason, or returns where another change came between and it can be tried again. */
async function judge(
  { db, company }: Desk,
  caseId: string,
  id: string | null,
  form: Form<CustomerBody>,
): Promise<void> {
  const judged = await db.first<{ found: boolean }>(sql.judgeCustomer, [company.id, caseId, id]);
  if (!judged?.found) throw notFound(id === null ? 'case' : 'customer');
  form.check();
}
