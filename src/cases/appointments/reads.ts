import type { Context } from '../../kernel/context.ts';
import { InvalidValue, invalidRequest, notFound } from '../../kernel/errors.ts';
import { parseTime, toSql } from '../../kernel/time/time.ts';
import { zonePlaceholder } from '../../kernel/time/wall-time-placeholders.ts';
import type { Form } from '../../kernel/validation/form.ts';
import type { Page, PageOfJson } from '../../kernel/validation/paging.ts';
import { requireCase } from '../case.ts';
import type { AppointmentsQuery } from './lifecycle.schema.ts';
import * as sql from './lifecycle.sql.ts';

export async function readAppointment({ db, company }: Context, caseId: string, id: string): Promise<string> {
  const record = await db.queryJson(sql.readAppointment, [company.id, caseId, id, zonePlaceholder(company.timeZone)]);
  if (record === undefined) throw notFound('appointment');
  return record;
}

export async function listAppointments(
  context: Context,
  caseId: string,
  query: Form<AppointmentsQuery>,
): Promise<string> {
  const { db, company } = context;
  const range = readRange(context, query);
  const email = readAdviser(query);
  const list =
    query.ok &&
    (await db.queryJson(sql.listAppointments, [
      company.id,
      caseId,
      zonePlaceholder(company.timeZone),
      ...range,
      email,
    ]));
  if (list) return list;
  await requireCase(context, caseId);
  query.check();
  throw unknownAdviser();
}

/** The appointments of one adviser, whichever case they belong to. */
export async function listDiary(context: Context, query: Form<AppointmentsQuery>, page: Page): Promise<PageOfJson> {
  const { db, company } = context;
  const range = readRange(context, query);
  const email = readAdviser(query);
  query.check();
  const values = [company.id, email, zonePlaceholder(company.timeZone), ...range, page.limit, page.offset];
  const found = await db.queryFirst<PageOfJson>(sql.listDiary, values);
  if (!found) throw unknownAdviser();
  return found;
}

function readRange({ company }: Context, query: Form<AppointmentsQuery>): unknown[] {
  const read = (field: 'from' | 'to') =>
    query.read(field, query.body[field], (text) => toSql(parseTime(text, company.timeZone)));
  const { deleted = 'false' } = query.body;
  return [read('from'), read('to'), deleted === 'all' ? null : ['true', '1'].includes(deleted)];
}

const readAdviser = (query: Form<AppointmentsQuery>) =>
  query.read('adviser_email', query.body.adviser_email, (text) => {
    // Query parameters reach a verb unread; PostgreSQL takes no text with NUL in it.
    if (text.includes('\0')) throw new InvalidValue('invalid_character', 'must not contain NUL characters');
    return text;
  });

const unknownAdviser = () =>
  invalidRequest([
    { field: 'adviser_email', code: 'unknown', message: 'is not the email of an adviser of this company' },
  ]);
