import { statement } from '../../kernel/sql/statement.ts';

/** $1 now. Of the whole installation: what the doctor tries to open, and what is sealed anew. */
export const sealedSecrets = statement(
  'webhook_endpoints.sealed',
  `SELECT w.company_id, w.id, s.sealed
     FROM webhook_endpoints w CROSS JOIN LATERAL (
            VALUES (w.sealed_secret), (CASE WHEN w.previous_secret_until > $1 THEN w.sealed_previous_secret END)) AS s (sealed)
    WHERE s.sealed IS NOT NULL`,
);

/** $1 company, $2 endpoint, $3 what was sealed, $4 the same sealed anew. Nothing where it has been replaced. */
export const reencryptSecret = statement(
  'webhook_endpoints.reencrypt',
  `UPDATE webhook_endpoints
      SET sealed_secret = CASE sealed_secret WHEN $3 THEN $4 ELSE sealed_secret END,
          sealed_previous_secret = CASE sealed_previous_secret WHEN $3 THEN $4 ELSE sealed_previous_secret END
    WHERE company_id = $1 AND id = $2 AND $3 IN (sealed_secret, sealed_previous_secret)
   RETURNING 1`,
);

/** $1 now: those that sign nothing any more. */
export const purgePreviousSecrets = statement(
  'webhook_endpoints.forget_secrets',
  `UPDATE webhook_endpoints SET sealed_previous_secret = NULL
    WHERE sealed_previous_secret IS NOT NULL AND previous_secret_until <= $1`,
);
