import type { Company } from '../kernel/context.ts';
import { notFound } from '../kernel/errors.ts';
import type { AdminContext } from './admin-context.ts';
import * as sql from './company.sql.ts';

export type CompanyRow = {
  id: string;
  time_zone: string;
  phone_region: string;
  terms: string;
  payment_terms: string;
  reminder_lead_days: number;
  event_key: Buffer;
  webhooks: boolean;
};

export const companyOf = (row: CompanyRow): Company => ({
  id: row.id,
  timeZone: row.time_zone,
  phoneRegion: row.phone_region,
  terms: row.terms,
  paymentTerms: row.payment_terms,
  reminderLeadDays: row.reminder_lead_days,
  eventKey: row.event_key,
  webhooks: row.webhooks,
});

/** Loads a company by id, for callers whose token does not belong to it: operators and the command line. */
export async function findCompany({ db }: Pick<AdminContext, 'db'>, id: string): Promise<Company> {
  const row = await db.queryFirst<CompanyRow>(sql.findCompany({ company_id: id }));
  if (!row) throw notFound('company');
  return companyOf(row);
}
