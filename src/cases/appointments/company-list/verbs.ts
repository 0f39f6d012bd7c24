import type { Context } from '../../../kernel/context.ts';
import { zonePlaceholder } from '../../../kernel/time/wall-time-placeholders.ts';
import type { Form } from '../../../kernel/validation/form.ts';
import { type CompanyPage, directionOf, readCompanyPage, sortOf, timesBetween } from '../../company-list.ts';
import { readCsv, recordColumns } from '../../company-list-csv.ts';
import { readInstant, readText } from '../../list.ts';
import { UNKNOWN_ADVISER } from '../reads.ts';
import { type CompanyAppointmentsCsvQuery, CompanyAppointmentsQuery, OUTCOMES } from './schema.ts';
import { companyAppointments, findAdviser } from './statements.sql.ts';

export const listCompanyAppointments = async (
  context: Context,
  query: Form<CompanyAppointmentsQuery>,
): Promise<CompanyPage> =>
  readCompanyPage(context, query, CompanyAppointmentsQuery.properties, await requestOf(context, query));

const CSV_COLUMNS = recordColumns(
  ...['adviser_email', 'start_time', 'end_time', 'end_time_utc', 'outcome', 'type', 'location', 'notes', 'join_url'],
  ...['email_recipient', 'email_confirmation', 'email_notification'],
  ...['sms_recipient', 'sms_confirmation', 'sms_notification'],
);

/** Reads nothing until the first part is asked for. */
export async function exportAppointments(
  context: Context,
  query: Form<CompanyAppointmentsCsvQuery>,
): Promise<AsyncGenerator<string>> {
  const request = await requestOf(context, query);
  query.check();
  return readCsv(context, request, CSV_COLUMNS);
}

async function requestOf(context: Context, query: Form<CompanyAppointmentsCsvQuery>) {
  const { db, company } = context;
  const { outcome } = query.body;
  const sort = sortOf(query, 'start_time');
  const range = timesBetween(readInstant(context, query, 'from'), readInstant(context, query, 'to'));
  const external_id = readText(query, 'external_id');
  const email = readText(query, 'adviser_email');
  const adviser =
    email === undefined || !query.ok
      ? undefined
      : await db.queryFirst<{ id: string }>(findAdviser({ company_id: company.id, email }));
  if (email !== undefined && query.ok && !adviser) query.addFault('adviser_email', 'unknown', UNKNOWN_ADVISER);
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
