import { auditOrigin } from '../../kernel/audit/audit-log.ts';
import { notFound } from '../../kernel/errors.ts';
import { newId } from '../../kernel/ids.ts';
import { toSql } from '../../kernel/time/time.ts';
import type { Form } from '../../kernel/validation/form.ts';
import type { ListRequest, PageOfJson } from '../../kernel/validation/paging.ts';
import type { CompanyContext } from '../admin-context.ts';
import { newCustomer, numberOf } from '../customers/verbs.ts';
import { readListPage } from '../list.ts';
import type { CaseBody, CreateCaseBody } from './schema.ts';
import * as sql from './statements.sql.ts';

export async function listCases(desk: CompanyContext, listing: ListRequest): Promise<PageOfJson> {
  return readListPage(desk.db, sql.listCases, [desk.company.id], listing, numberOf(desk, listing));
}

export async function showCase({ db, company }: CompanyContext, id: string): Promise<string> {
  const record = await db.queryJson(sql.showCase, [company.id, id]);
  if (record === undefined) throw notFound('case');
  return record;
}

export async function openCase(desk: CompanyContext, form: Form<CreateCaseBody>): Promise<string> {
  const { db, company, clock } = desk;
  const { reference, customers } = form.body;
  const sent = Array.isArray(customers) ? customers : [];
  const people = sent.map((customer, i) => newCustomer(desk, form, customer ?? {}, `customers[${i}].`));
  form.check();
  const record = await db.queryJson(sql.insertCase, [
    company.id,
    newId(),
    reference,
    JSON.stringify(people),
    toSql(clock()),
    auditOrigin(desk),
  ]);
  if (record === undefined) throw new Error('A case was refused without a reason.');
  return record;
}

export async function changeCase(desk: CompanyContext, id: string, form: Form<CaseBody>): Promise<string> {
  const { db, company, clock } = desk;
  if (!form.ok) {
    await showCase(desk, id);
    form.check();
  }
  const values = [company.id, id, form.body.reference ?? null, toSql(clock()), auditOrigin(desk)];
  const record = await db.queryJson(sql.updateCase, values);
  if (record === undefined) throw notFound('case');
  return record;
}
