import { statement } from '../kernel/sql.ts';

export const COMPANY_COLUMNS =
  'c.id, c.time_zone, c.phone_region, c.terms, c.payment_terms, c.reminder_lead_days, c.event_key';

/** $1 company */
export const findCompany = statement('companies.find', `SELECT ${COMPANY_COLUMNS} FROM companies c WHERE c.id = $1`);
