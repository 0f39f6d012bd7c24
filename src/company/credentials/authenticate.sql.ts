import { read } from '../../kernel/sql/statement.ts';
import { COMPANY_COLUMNS } from '../company.sql.ts';

/** SQL: the scopes of the token `t`. It has at most those that its client `k` has now. */
export const CURRENT_SCOPES = `CASE WHEN t.client_id IS NULL THEN t.scopes
                ELSE ARRAY(SELECT s FROM unnest(t.scopes) s WHERE s = ANY (k.scopes)) END`;

/** Returns no row if the token has ended or does not exist. */
export const findToken = read('tokens.find', {
  inputs: { secret_sha256: 'bytea', now: 'timestamptz' },
  sql: (input) => `
    SELECT t.id AS token_id, t.client_id, coalesce(k.name, t.name) AS name, ${COMPANY_COLUMNS},
           ${CURRENT_SCOPES} AS scopes
      FROM tokens t
      JOIN companies c ON c.id = t.company_id
      LEFT JOIN clients k ON k.company_id = t.company_id AND k.id = t.client_id
     WHERE t.secret_sha256 = ${input.secret_sha256} AND t.revoked_at IS NULL
       AND (t.expires_at IS NULL OR t.expires_at > ${input.now})
       AND k.disabled_at IS NULL AND t.client_generation IS NOT DISTINCT FROM k.generation`,
});
