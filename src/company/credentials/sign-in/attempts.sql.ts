import { write } from '../../../kernel/sql/statement.ts';

/** How many failures of a kind cost nothing, and the longest delay after the others. */
const LIMITS: Record<string, { free: number; maxSeconds: number }> = {
  account: { free: 5, maxSeconds: 300 },
  address: { free: 20, maxSeconds: 300 },
  browser: { free: 10, maxSeconds: 60 },
  code: { free: 5, maxSeconds: 300 },
  recovery: { free: 5, maxSeconds: 900 },
  password: { free: 5, maxSeconds: 300 },
};
export type AttemptKind = 'account' | 'address' | 'browser' | 'code' | 'recovery' | 'password';

/** Failures are forgotten after this time without another one. */
const MEMORY = `interval '1 hour'`;
/** Bounds the time that an attempt spends on deleting old ones. */
const MAX_PRUNED = 20;

const ofKind = (value: (limit: { free: number; maxSeconds: number }) => number) =>
  `CASE a.kind ${Object.entries(LIMITS)
    .map(([kind, limit]) => `WHEN '${kind}' THEN ${value(limit)}`)
    .join(' ')} END`;

/** SQL: the time from which the next attempt is allowed. The delay doubles with each failure, up to a bound. */
const nextAttempt = `a.failed_at + CASE WHEN a.failures < ${ofKind(({ free }) => free)} THEN interval '0'
  ELSE least(${ofKind(({ maxSeconds }) => maxSeconds)}, 2 ^ least(20, a.failures - ${ofKind(({ free }) => free)} + 1))
       * interval '1 second' END`;

/**
 * Counts an attempt as failed before it is made, so that concurrent ones do not pass together. Returns for each key
 * whether the attempt is allowed, and how long to wait if not. The rows are locked in the order of the keys.
 */
export const takeAttempt = write('sign_in.take_attempt', {
  inputs: { keys: 'bytea[]', kinds: 'text[]', now: 'timestamptz' },
  sql: (input) => `
    WITH old AS MATERIALIZED (
      SELECT key_sha256 FROM sign_in_attempts WHERE failed_at < ${input.now} - ${MEMORY}
         AND key_sha256 <> ALL (${input.keys}) LIMIT ${MAX_PRUNED} FOR UPDATE SKIP LOCKED
    ), pruned AS (
      DELETE FROM sign_in_attempts a USING old WHERE a.key_sha256 = old.key_sha256
    ), wanted AS (
      SELECT * FROM unnest(${input.keys}, ${input.kinds}) AS w (key_sha256, kind)
    ), taken AS (
      INSERT INTO sign_in_attempts AS a (key_sha256, kind, failures, failed_at)
      SELECT key_sha256, kind, 1, ${input.now} FROM wanted
       WHERE NOT EXISTS (SELECT 1 FROM wanted JOIN sign_in_attempts a USING (key_sha256) WHERE ${nextAttempt} > ${input.now})
       ORDER BY key_sha256
      ON CONFLICT (key_sha256) DO UPDATE
         SET failures = CASE WHEN a.failed_at < ${input.now} - ${MEMORY} THEN 1 ELSE a.failures + 1 END,
             failed_at = ${input.now}
       WHERE ${nextAttempt} <= ${input.now}
      RETURNING a.key_sha256
    )
    SELECT w.kind, t.key_sha256 IS NOT NULL AS allowed,
           greatest(1, ceil(extract(epoch FROM ${nextAttempt} - ${input.now})))::int AS wait_seconds
      FROM wanted w LEFT JOIN taken t USING (key_sha256) LEFT JOIN sign_in_attempts a USING (key_sha256)`,
});

/** An attempt has succeeded: forgets the failures of the account or browser, and takes back the one of the address. */
export const forgiveAttempt = write('sign_in.forgive_attempt', {
  inputs: { keys: 'bytea[]' },
  sql: (input) => `
    UPDATE sign_in_attempts a
       SET failures = CASE a.kind WHEN 'address' THEN greatest(0, a.failures - 1) ELSE 0 END
     WHERE a.key_sha256 = ANY (${input.keys})`,
});
