import { read } from '../kernel/sql/statement.ts';

const hasWebhooks = `EXISTS (
  SELECT 1 FROM webhook_endpoints w WHERE w.company_id = c.id AND w.state = 'active' AND w.removed_at IS NULL)`;

export const COMPANY_COLUMNS = `c.id, c.time_zone, c.phone_region, c.terms, c.payment_terms, c.reminder_lead_days,
  c.event_key, ${hasWebhooks} AS webhooks`;

export const findCompany = read('companies.find', {
  inputs: { company_id: 'uuid' },
  sql: (input) => `SELECT ${COMPANY_COLUMNS} FROM companies c WHERE c.id = ${input.company_id}`,
});
