import type { Context } from '../../../kernel/context.ts';
import { zonePlaceholder } from '../../../kernel/time/wall-time-placeholders.ts';
import type { Form } from '../../../kernel/validation/form.ts';
import { type CompanyPage, directionOf, readCompanyPage, timesBetween } from '../../company-list.ts';
import { readInstant, readText } from '../../list.ts';
import { unknownAdviser } from '../reads.ts';
import { CompanyAppointmentsQuery, OUTCOMES } from './schema.ts';
import { companyAppointments, findAdviser } from './statements.sql.ts';

export const listCompanyAppointments = async (
  context: Context,
  query: Form<CompanyAppointmentsQuery>,
): Promise<CompanyPage> =>
  readCompanyPage(context, query, CompanyAppointmentsQuery.properties, await requestOf(context, query));

async function requestOf(context: Context, query: Form<CompanyAppointmentsQuery>) {
  const { db, company } = context;
  const { outcome, sort = 'start_time' } = query.body;
  const range = timesBetween(readInstant(context, query, 'from'), readInstant(context, query, 'to'));
  const external_id = readText(query, 'external_id');
  const email = readText(query, 'adviser_email');
  query.check();
  const adviser =
    email === undefined
      ? undefined
      : await db.queryFirst<{ id: string }>(findAdviser({ company_id: company.id, email }));
  if (email !== undefined && !adviser) throw unknownAdviser();
  const walk = external_id !== undefined ? 'external_id' : adviser ? 'adviser' : 'start_time';
  return {
    name: 'appointments',
    lists: companyAppointments,
    walk: walk as 'external_id' | 'adviser' | 'start_time',
    direction: directionOf(sort),
    range,
    filters: {
      zone: zonePlaceholder(context.company.timeZone),
      outcomes: outcome === undefined ? OUTCOMES : [outcome],
      adviser_id: adviser?.id,
      external_id,
    },
    meetsOthers: external_id !== undefined || (adviser !== undefined && outcome !== undefined),
  };
}
