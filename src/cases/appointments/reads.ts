import type { Context } from '../../kernel/context.ts';
import type { ShownRecord } from '../../kernel/database/database.ts';
import { InvalidValue, invalidRequest, notFound } from '../../kernel/errors.ts';
import { parseTime, toSql } from '../../kernel/time/time.ts';
import { zonePlaceholder } from '../../kernel/time/wall-time-placeholders.ts';
import type { Form } from '../../kernel/validation/form.ts';
import type { Page, PageOfJson } from '../../kernel/validation/paging.ts';
import { requireCase } from '../case.ts';
import { mayReadCases } from '../company-list.ts';
import type { AppointmentsQuery } from './lifecycle.schema.ts';
import * as sql from './reads.sql.ts';

export { appointmentIds } from './external-ids.sql.ts';
export { currentVersion } from './reads.sql.ts';

export async function readAppointment({ db, company }: Context, caseId: string, id: string): Promise<ShownRecord> {
  const zone = zonePlaceholder(company.timeZone);
  const record = await db.queryRecord(sql.readAppointment({ company_id: company.id, case_id: caseId, id, zone }));
  if (record === undefined) throw notFound('appointment');
  return record;
}

export async function listAppointments(
  context: Context,
  caseId: string,
  query: Form<AppointmentsQuery>,
): Promise<string> {
  const { db, company } = context;
  const filters = parseFilters(context, query);
  const list =
    query.ok && (await db.queryJson(sql.listAppointments({ company_id: company.id, case_id: caseId, ...filters })));
  if (list) return list;
  await requireCase(context, caseId);
  query.check();
  throw unknownAdviser();
}

/** Lists the appointments of one adviser in all cases of the company. */
export async function listDiary(context: Context, query: Form<AppointmentsQuery>, page: Page): Promise<PageOfJson> {
  const { db, company } = context;
  const { adviser_email = '', ...filters } = parseFilters(context, query);
  query.check();
  const { limit, offset } = page;
  const diary = await db.queryFirst<PageOfJson>(
    sql.listDiary({
      company_id: company.id,
      adviser_email,
      ...filters,
      limit,
      offset,
      reads_cases: mayReadCases(context),
    }),
  );
  if (!diary) throw unknownAdviser();
  return diary;
}

function parseFilters({ company }: Context, query: Form<AppointmentsQuery>) {
  const parse = (field: 'from' | 'to') =>
    query.read(field, query.body[field], (text) => toSql(parseTime(text, company.timeZone)));
  const { deleted = 'false' } = query.body;
  return {
    zone: zonePlaceholder(company.timeZone),
    from: parse('from'),
    to: parse('to'),
    deleted: deleted === 'all' ? null : ['true', '1'].includes(deleted),
    adviser_email: parseAdviserEmail(query),
  };
}

const parseAdviserEmail = (query: Form<AppointmentsQuery>) =>
  query.read('adviser_email', query.body.adviser_email, (text) => {
    // Query parameters are not checked for NUL before, and PostgreSQL rejects it.
    if (text.includes('\0')) throw new InvalidValue('invalid_character', 'must not contain NUL characters');
    return text;
  });

export const UNKNOWN_ADVISER = 'is not the email of an adviser of this company';
const unknownAdviser = () => invalidRequest([{ field: 'adviser_email', code: 'unknown', message: UNKNOWN_ADVISER }]);
