import { statement } from '../../kernel/sql/statement.ts';

/** $1 a number for the credential and the key. False while another request holds it; free again when that one ends. */
export const lockKey = statement('idempotency.lock', 'SELECT pg_try_advisory_xact_lock($1) AS free');

/**
 * $1 company, $2 credential, $3 hash of the key, $4 from when on answers are kept. Locked, because only what writes waits
 * for the standbys: an answer is not given again before they have what it tells of.
 */
export const findAnswer = statement(
  'idempotency.find',
  `SELECT request_sha256, status, headers, body, sealed_body FROM idempotency_keys
    WHERE company_id = $1 AND credential_id = $2 AND key_sha256 = $3 AND created_at > $4 FOR UPDATE`,
);

/**
 * $1 company, $2 credential, $3 hash of the key, $4 from when on answers are kept, $5 hash of the request, $6 status,
 * $7 headers, $8 body, $9 sealed body, $10 now. Removes some of the company's that are too old, more than it adds.
 */
export const keepAnswer = statement(
  'idempotency.keep',
  `WITH forgotten AS (
     DELETE FROM idempotency_keys WHERE (company_id, credential_id, key_sha256) IN (
       SELECT company_id, credential_id, key_sha256 FROM idempotency_keys
        WHERE company_id = $1 AND created_at <= $4 AND (credential_id, key_sha256) <> ($2, $3)
        ORDER BY created_at LIMIT 10 FOR UPDATE SKIP LOCKED)
   )
   INSERT INTO idempotency_keys AS k
     (company_id, credential_id, key_sha256, request_sha256, status, headers, body, sealed_body, created_at)
   VALUES ($1, $2, $3, $5, $6, $7, $8, $9, $10)
   ON CONFLICT (company_id, credential_id, key_sha256) DO UPDATE
      SET (request_sha256, status, headers, body, sealed_body, created_at)
        = (excluded.request_sha256, excluded.status, excluded.headers, excluded.body, excluded.sealed_body, excluded.created_at)
    WHERE k.created_at <= $4
   RETURNING true AS kept`,
);
