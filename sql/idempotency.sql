-- idempotency.find (writes; pool: short)
SELECT request_sha256, status, headers, etag, body, sealed_body FROM idempotency_keys
 WHERE company_id = $1::uuid AND credential_id = $2::uuid
   AND key_sha256 = $3::bytea AND created_at > $4::timestamptz FOR UPDATE;

-- idempotency.lock (writes; pool: short)
SELECT pg_try_advisory_xact_lock(hash_record_extended(($1::uuid, $2::bytea), 0)) AS locked;

-- idempotency.pages (reads; pool: short)
SELECT (pg_relation_size('idempotency_keys') / current_setting('block_size')::int)::int AS pages;

-- idempotency.purge (writes; pool: short)
DELETE FROM idempotency_keys
 WHERE ctid >= ('(' || $2::int || ',0)')::tid AND ctid < ('(' || $3::int || ',0)')::tid
   AND created_at <= $1::timestamptz;

-- idempotency.store (writes; pool: short)
INSERT INTO idempotency_keys AS k
  (company_id, credential_id, key_sha256, request_sha256, status, headers, body, sealed_body, created_at)
VALUES ($1::uuid, $2::uuid, $3::bytea, $5::bytea,
        $6::int, $7::json, $8::text, $9::bytea, $10::timestamptz)
ON CONFLICT (company_id, credential_id, key_sha256) DO UPDATE
   SET request_sha256 = excluded.request_sha256, status = excluded.status, headers = excluded.headers,
       etag = NULL, body = excluded.body, sealed_body = excluded.sealed_body, created_at = excluded.created_at
 WHERE k.created_at <= $4::timestamptz
RETURNING true AS stored;

