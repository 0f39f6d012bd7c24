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

export async function listCases(context: CompanyContext, request: ListRequest): Promise<PageOfJson> {
  const values = { company_id: context.company.id, phone_e164: searchedPhone(context, request) };
  return readListPage(context.db, sql.listCases, values, request);
}

export async function showCase({ db, company }: CompanyContext, id: string): Promise<string> {
  const record = await db.queryJson(sql.showCase({ company_id: company.id, id }));
  if (record === undefined) throw notFound('case');
  return record;
}

export async function createCase(context: CompanyContext, form: Form<CreateCaseBody>): Promise<string> {
  const { db, company, clock } = context;
  const { reference, customers } = form.body;
  const sent = Array.isArray(customers) ? customers : [];
  const newCustomers = sent.map((customer, i) => readNewCustomer(context, form, customer ?? {}, `customers[${i}].`));
  form.check();
  const record = await db.queryJson(
    sql.insertCase({
      company_id: company.id,
      id: newId(),
      reference,
      customers: JSON.stringify(newCustomers),
      now: toSql(clock()),
      origin: auditOrigin(context),
    }),
  );
  if (record === undefined) throw new Error('The case was not written, and no reason was found.');
  return record;
}

export async function updateCase(context: CompanyContext, id: string, form: Form<CaseBody>): Promise<string> {
  const { db, company, clock } = context;
  if (!form.ok) {
    await showCase(context, id);
    form.check();
  }
  const record = await db.queryJson(
    sql.updateCase({
      company_id: company.id,
      id,
      reference: form.body.reference,
      now: toSql(clock()),
      origin: auditOrigin(context),
    }),
  );
  if (record === undefined) throw notFound('case');
  return record;
}
