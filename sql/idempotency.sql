-- idempotency.find (writes; pool: short)
SELECT request_sha256, status, headers, body, sealed_body FROM idempotency_keys
 WHERE company_id = $1::uuid AND credential_id = $2::uuid
   AND key_sha256 = $3::bytea AND created_at > $4::timestamptz FOR UPDATE;

-- idempotency.lock (writes; pool: short)
SELECT pg_try_advisory_xact_lock($1::bigint) AS locked;

-- idempotency.store (writes; pool: short)
WITH purged AS (
  DELETE FROM idempotency_keys WHERE (company_id, credential_id, key_sha256) IN (
    SELECT company_id, credential_id, key_sha256 FROM idempotency_keys
     WHERE company_id = $1::uuid AND created_at <= $4::timestamptz
       AND (credential_id, key_sha256) <> ($2::uuid, $3::bytea)
     ORDER BY created_at LIMIT 10 FOR UPDATE SKIP LOCKED)
)
INSERT INTO idempotency_keys AS k
  (company_id, credential_id, key_sha256, request_sha256, status, headers, body, sealed_body, created_at)
VALUES ($1::uuid, $2::uuid, $3::bytea, $5::bytea,
        $6::int, $7::json, $8::text, $9::bytea, $10::timestamptz)
ON CONFLICT (company_id, credential_id, key_sha256) DO UPDATE
   SET request_sha256 = excluded.request_sha256, status = excluded.status, headers = excluded.headers,
       body = excluded.body, sealed_body = excluded.sealed_body, created_at = excluded.created_at
 WHERE k.created_at <= $4::timestamptz
RETURNING true AS stored;

