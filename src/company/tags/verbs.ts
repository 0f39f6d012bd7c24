import { auditOrigin } from '../../kernel/audit/audit-log.ts';
import { assertBelowLimit } from '../../kernel/database/row-limit.ts';
import { InvalidValue, notFound } from '../../kernel/errors.ts';
import { toSql } from '../../kernel/time/time.ts';
import type { Form } from '../../kernel/validation/form.ts';
import type { ListRequest, PageOfJson } from '../../kernel/validation/paging.ts';
import type { AdminContext, CompanyContext } from '../admin-context.ts';
import { readListPage } from '../list.ts';
import type { CustomTagBody } from './schema.ts';
import * as sql from './statements.sql.ts';

const TAG_PATTERN = /^[a-z0-9]+(-[a-z0-9]+)*$/;

export async function listDefaultTags({ db }: Pick<AdminContext, 'db'>, request: ListRequest): Promise<PageOfJson> {
  return readListPage(db, sql.listDefaultTags, {}, request);
}

export async function listCustomTags({ db, company }: CompanyContext, request: ListRequest): Promise<PageOfJson> {
  return readListPage(db, sql.listCustomTags, { company_id: company.id }, request);
}

export async function createCustomTag(context: CompanyContext, form: Form<CustomTagBody>): Promise<string> {
  const { db, company, clock } = context;
  const { tag } = form.body;
  form.read('tag', tag, assertTag);
  form.check();
  await assertBelowLimit(db, sql.customTagLimit, { company_id: company.id });
  const record = await db.queryJson(
    sql.insertCustomTag({ company_id: company.id, tag, now: toSql(clock()), origin: auditOrigin(context) }),
  );
  if (record) return record;
  form.addFault('tag', 'taken', 'is already a custom tag of the company');
  form.check();
  throw new Error('The tag was not written, and no reason was found.');
}

export async function removeCustomTag(context: CompanyContext, tag: string): Promise<string> {
  const { db, company, clock } = context;
  // Text that is not a tag never reaches the database: it could contain characters that PostgreSQL cannot store.
  if (!TAG_PATTERN.test(tag)) throw notFound('custom tag');
  const record = await db.queryJson(
    sql.removeCustomTag({ company_id: company.id, tag, now: toSql(clock()), origin: auditOrigin(context) }),
  );
  if (!record) throw notFound('custom tag');
  return record;
}

function assertTag(text: string): void {
  if (!TAG_PATTERN.test(text)) throw new InvalidValue('format', 'must be lower-case words joined by dashes');
}
