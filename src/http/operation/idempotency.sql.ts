import { write } from '../../kernel/sql/statement.ts';

const KEY_INPUTS = { company_id: 'uuid', credential_id: 'uuid', key_sha256: 'bytea' } as const;

/** Returns false while another request holds the lock, which ends with its transaction. */
export const lockKey = write('idempotency.lock', {
  inputs: { lock: 'bigint' },
  sql: (input) => `SELECT pg_try_advisory_xact_lock(${input.lock}) AS locked`,
});

/**
 * Finds a response that was stored after `expired_at`. FOR UPDATE makes the transaction a writing one, whose commit
 * waits for the synchronous standbys: a replayed response must not tell of a write that a failover could lose.
 */
export const findResponse = write('idempotency.find', {
  inputs: { ...KEY_INPUTS, expired_at: 'timestamptz' },
  sql: (input) => `
    SELECT request_sha256, status, headers, body, sealed_body FROM idempotency_keys
     WHERE company_id = ${input.company_id} AND credential_id = ${input.credential_id}
       AND key_sha256 = ${input.key_sha256} AND created_at > ${input.expired_at} FOR UPDATE`,
});

/** Stores the response, and removes up to ten expired ones of the company, more than it adds. */
export const storeResponse = write('idempotency.store', {
  inputs: {
    ...KEY_INPUTS,
    expired_at: 'timestamptz',
    request_sha256: 'bytea',
    status: 'int',
    headers: 'json',
    body: 'text?',
    sealed_body: 'bytea?',
    now: 'timestamptz',
  },
  sql: (input) => `
    WITH purged AS (
      DELETE FROM idempotency_keys WHERE (company_id, credential_id, key_sha256) IN (
        SELECT company_id, credential_id, key_sha256 FROM idempotency_keys
         WHERE company_id = ${input.company_id} AND created_at <= ${input.expired_at}
           AND (credential_id, key_sha256) <> (${input.credential_id}, ${input.key_sha256})
         ORDER BY created_at LIMIT 10 FOR UPDATE SKIP LOCKED)
    )
    INSERT INTO idempotency_keys AS k
      (company_id, credential_id, key_sha256, request_sha256, status, headers, body, sealed_body, created_at)
    VALUES (${input.company_id}, ${input.credential_id}, ${input.key_sha256}, ${input.request_sha256},
            ${input.status}, ${input.headers}, ${input.body}, ${input.sealed_body}, ${input.now})
    ON CONFLICT (company_id, credential_id, key_sha256) DO UPDATE
       SET request_sha256 = excluded.request_sha256, status = excluded.status, headers = excluded.headers,
           body = excluded.body, sealed_body = excluded.sealed_body, created_at = excluded.created_at
     WHERE k.created_at <= ${input.expired_at}
    RETURNING true AS stored`,
});
