import { notFound } from '../../kernel/errors.ts';
import type { Form } from '../../kernel/validation/form.ts';
import { newId } from '../../kernel/ids.ts';
import type { Listing, PageOfJson } from '../../kernel/validation/paging.ts';
import { originOf } from '../../kernel/audit/audit-log.ts';
import { toSql } from '../../kernel/time/time.ts';
import { readPage } from '../list.ts';
import type { Desk } from '../admin-context.ts';
import type { CaseBody, CreateCaseBody } from './schema.ts';
import * as sql from './statements.sql.ts';
import { newCustomer, numberOf } from '../customers/verbs.ts';

export async function listCases(desk: Desk, listing: Listing): Promise<PageOfJson> {
  return readPage(desk.db, sql.listCases, [desk.company.id], listing, numberOf(desk, listing));
}

export async function showCase({ db, company }: Desk, id: string): Promise<string> {
  const record = await db.json(sql.showCase, [company.id, id]);
  if (record === undefined) throw notFound('case');
  return record;
}

export async function openCase(desk: Desk, form: Form<CreateCaseBody>): Promise<string> {
  const { db, company, clock } = desk;
  const { reference, customers } = form.body;
  const sent = Array.isArray(customers) ? customers : [];
  const people = sent.map((customer, i) => newCustomer(desk, form, customer ?? {}, `customers[${i}].`));
  form.check();
  const record = await db.json(sql.insertCase, [
    company.id,
    newId(),
    reference,
    JSON.stringify(people),
    toSql(clock()),
    originOf(desk),
  ]);
  if (record === undefined) throw new Error('A case was refused without a reason.');
  return record;
}

export async function changeCase(desk: Desk, id: string, form: Form<CaseBody>): Promise<string> {
  const { db, company, clock } = desk;
  if (!form.ok) {
    await showCase(desk, id);
    form.check();
  }
  const values = [company.id, id, form.body.reference ?? null, toSql(clock()), originOf(desk)];
  const record = await db.json(sql.updateCase, values);
  if (record === undefined) throw notFound('case');
  return record;
}
