import { read, write } from '../../kernel/sql/statement.ts';

/** The encrypted secrets of all companies that still sign deliveries. */
export const listEncryptedSecrets = read('webhook_endpoints.list_secrets', {
  inputs: { now: 'timestamptz' },
  sql: (input) => `
    SELECT w.company_id, w.id, s.sealed
      FROM webhook_endpoints w CROSS JOIN LATERAL (
             VALUES (w.sealed_secret),
                    (CASE WHEN w.previous_secret_until > ${input.now} THEN w.sealed_previous_secret END)) AS s (sealed)
     WHERE s.sealed IS NOT NULL`,
});

/** Returns no row if the secret was replaced meanwhile. */
export const reencryptSecret = write('webhook_endpoints.reencrypt', {
  inputs: { company_id: 'uuid', id: 'uuid', sealed: 'text', resealed: 'text' },
  sql: (input) => `
    UPDATE webhook_endpoints
       SET sealed_secret = CASE sealed_secret WHEN ${input.sealed} THEN ${input.resealed} ELSE sealed_secret END,
           sealed_previous_secret = CASE sealed_previous_secret WHEN ${input.sealed} THEN ${input.resealed}
                                                                ELSE sealed_previous_secret END
     WHERE company_id = ${input.company_id} AND id = ${input.id}
       AND ${input.sealed} IN (sealed_secret, sealed_previous_secret)
    RETURNING 1`,
});

/** Deletes the previous secrets whose overlap has ended. */
export const purgePreviousSecrets = write('webhook_endpoints.purge_secrets', {
  inputs: { now: 'timestamptz' },
  sql: (input) => `
    UPDATE webhook_endpoints SET sealed_previous_secret = NULL
     WHERE sealed_previous_secret IS NOT NULL AND previous_secret_until <= ${input.now}`,
});
