import { statement } from '../kernel/sql.ts';

export const findToken = statement(
  'credentials.find',
  `SELECT t.id AS token_id, t.scopes, c.id, c.time_zone, c.phone_region, c.terms, c.payment_terms, c.reminder_lead_days
     FROM tokens t JOIN companies c ON c.id = t.company_id
    WHERE t.secret_sha256 = $1 AND t.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > $2)`,
);

export const insertToken = statement(
  'credentials.insert',
  `INSERT INTO tokens (company_id, id, secret_sha256, name, scopes, created_at) VALUES ($1, $2, $3, $4, $5, $6)`,
);
