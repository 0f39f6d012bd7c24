import type { Guard } from '../../kernel/sql/guard.ts';
import { read, write } from '../../kernel/sql/statement.ts';

const KEY_INPUTS = { company_id: 'uuid', credential_id: 'uuid', key_sha256: 'bytea' } as const;

/** SQL: takes the lock of a key until the transaction ends. False while another request holds it. */
const tryLock = (credentialId: string, keySha256: string) =>
  `pg_try_advisory_xact_lock(hash_record_extended((${credentialId}, ${keySha256}), 0))`;

/**
 * A write that claims its key and stores its response by itself. It returns no row if another request holds the key or a
 * response is stored. If one was stored after the statement began, the primary key rejects the second.
 */
export const KEY_GUARD: Guard = {
  name: 'keyed',
  inputs: {
    credential_id: 'uuid',
    key_sha256: 'bytea',
    request_sha256: 'bytea',
    etag_suffix: 'text',
  },
  condition: `${tryLock('input.credential_id', 'input.key_sha256')} AND (
        SELECT k.created_at FROM idempotency_keys k
         WHERE k.company_id = input.company_id AND k.credential_id = input.credential_id
           AND k.key_sha256 = input.key_sha256) IS NULL`,
  store: `stored AS (
      INSERT INTO idempotency_keys
        (company_id, credential_id, key_sha256, request_sha256, status, headers, etag, body, created_at)
      SELECT input.company_id, input.credential_id, input.key_sha256, input.request_sha256, 200,
             '{"content-type":"application/json; charset=utf-8"}', '"' || answer.version || input.etag_suffix,
             answer.json, input.now
        FROM answer JOIN input USING (nth))`,
};

/** Returns false while another request holds the lock, which ends with its transaction. */
export const lockKey = write('idempotency.lock', {
  inputs: { credential_id: 'uuid', key_sha256: 'bytea' },
  sql: (input) => `SELECT ${tryLock(input.credential_id, input.key_sha256)} AS locked`,
});

/**
 * Finds a response that was stored after `expired_at`. FOR UPDATE makes the transaction a writing one, whose commit
 * waits for the synchronous standbys: a replayed response must not tell of a write that a failover could lose.
 */
export const findResponse = write('idempotency.find', {
  inputs: { ...KEY_INPUTS, expired_at: 'timestamptz' },
  sql: (input) => `
    SELECT request_sha256, status, headers, etag, body, sealed_body FROM idempotency_keys
     WHERE company_id = ${input.company_id} AND credential_id = ${input.credential_id}
       AND key_sha256 = ${input.key_sha256} AND created_at > ${input.expired_at} FOR UPDATE`,
});

/** Replaces a response that is no longer replayed. */
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
    INSERT INTO idempotency_keys AS k
      (company_id, credential_id, key_sha256, request_sha256, status, headers, body, sealed_body, created_at)
    VALUES (${input.company_id}, ${input.credential_id}, ${input.key_sha256}, ${input.request_sha256},
            ${input.status}, ${input.headers}, ${input.body}, ${input.sealed_body}, ${input.now})
    ON CONFLICT (company_id, credential_id, key_sha256) DO UPDATE
       SET request_sha256 = excluded.request_sha256, status = excluded.status, headers = excluded.headers,
           etag = NULL, body = excluded.body, sealed_body = excluded.sealed_body, created_at = excluded.created_at
     WHERE k.created_at <= ${input.expired_at}
    RETURNING true AS stored`,
});

export const countPages = read('idempotency.pages', {
  inputs: {},
  sql: () => `SELECT (pg_relation_size('idempotency_keys') / current_setting('block_size')::int)::int AS pages`,
});

/** Deletes the responses that were stored before `expired_at` and lie in these pages of the table. */
export const purgeResponses = write('idempotency.purge', {
  inputs: { expired_at: 'timestamptz', first_page: 'int', end_page: 'int' },
  sql: (input) => `
    DELETE FROM idempotency_keys
     WHERE ctid >= ('(' || ${input.first_page} || ',0)')::tid AND ctid < ('(' || ${input.end_page} || ',0)')::tid
       AND created_at <= ${input.expired_at}`,
});
