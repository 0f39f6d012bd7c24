import { auditOrigin } from '../../kernel/audit/audit-log.ts';
import { notFound } from '../../kernel/errors.ts';
import { newId } from '../../kernel/ids.ts';
import { toSql } from '../../kernel/time/time.ts';
import type { Form } from '../../kernel/validation/form.ts';
import type { ListRequest, PageOfJson } from '../../kernel/validation/paging.ts';
import type { CompanyContext } from '../admin-context.ts';
import { readNewCustomer, searchedPhone } from '../customers/verbs.ts';
import { readListPage } from '../list.ts';
import type { CaseBody, CreateCaseBody } from './schema.ts';
import * as sql from './statements.sql.ts';

export async function listCases(context: CompanyContext, listing: ListRequest): Promise<PageOfJson> {
  return readListPage(context.db, sql.listCases, [context.company.id], listing, searchedPhone(context, listing));
}

export async function showCase({ db, company }: CompanyContext, id: string): Promise<string> {
  const record = await db.queryJson(sql.showCase, [company.id, id]);
  if (record === undefined) throw notFound('case');
  return record;
}

export async function createCase(context: CompanyContext, form: Form<CreateCaseBody>): Promise<string> {
  const { db, company, clock } = context;
  const { reference, customers } = form.body;
  const sent = Array.isArray(customers) ? customers : [];
  const people = sent.map((customer, i) => readNewCustomer(context, form, customer ?? {}, `customers[${i}].`));
  form.check();
  const record = await db.queryJson(sql.insertCase, [
    company.id,
    newId(),
    reference,
    JSON.stringify(people),
    toSql(clock()),
    auditOrigin(context),
  ]);
  if (record === undefined) throw new Error('The case was not written, and no reason was found.');
  return record;
}

export async function updateCase(context: CompanyContext, id: string, form: Form<CaseBody>): Promise<string> {
  const { db, company, clock } = context;
  if (!form.ok) {
    await showCase(context, id);
    form.check();
  }
  const values = [company.id, id, form.body.reference ?? null, toSql(clock()), auditOrigin(context)];
  const record = await db.queryJson(sql.updateCase, values);
  if (record === undefined) throw notFound('case');
  return record;
}
