import { read, rowLimit, write } from '../../../kernel/sql/statement.ts';
import { userAudit } from '../users/audit.sql.ts';

export const selectChallengeKey = read('passkeys.challenge_key', {
  inputs: {},
  sql: () => 'SELECT key FROM challenge_keys',
});

const USER_INPUTS = { company_id: 'uuid', user_id: 'uuid' } as const;
const CHANGE_INPUTS = { ...USER_INPUTS, id: 'uuid', now: 'timestamptz', origin: 'json' } as const;
const ofUser = (input: { company_id: string; user_id: string }) =>
  `p.company_id = ${input.company_id} AND p.user_id = ${input.user_id}`;

export const passkeyLimit = rowLimit('passkeys', 20, {
  inputs: USER_INPUTS,
  rows: (input) => `FROM passkeys p WHERE ${ofUser(input)}`,
});

export const listCredentialIds = read('passkeys.list_credential_ids', {
  inputs: USER_INPUTS,
  sql: (input) => `SELECT p.credential_id FROM passkeys p WHERE ${ofUser(input)}`,
});

/** SQL: the table expression `old` with the user, who is locked before the passkeys, as at a sign-in. */
const lockedUser = (input: { company_id: string; user_id: string }) => `old AS (
      SELECT u.* FROM users u WHERE u.company_id = ${input.company_id} AND u.id = ${input.user_id} FOR NO KEY UPDATE
    )`;
/** SQL: the table expression `u` with the user after a change of the passkeys, if `p` has a row. */
const changedUser = (input: { now: string }) => `u AS (
      UPDATE users u SET updated_at = ${input.now} FROM old
       WHERE u.company_id = old.company_id AND u.id = old.id AND EXISTS (SELECT 1 FROM p)
      RETURNING u.*
    )`;
const event = (action: 'passkey_added' | 'passkey_removed', input: { now: string; origin: string }) => `event AS (
      ${userAudit.insertEvent(action, { from: 'u', at: input.now, origin: input.origin, before: userAudit.snapshotOf('old') })}
    )`;

/** Returns no row if the credential is registered already, be it for another user. */
export const insertPasskey = write('passkeys.insert', {
  inputs: {
    ...CHANGE_INPUTS,
    name: 'text',
    credential_id: 'bytea',
    public_key: 'bytea',
    counter: 'bigint',
    transports: 'text[]',
    backed_up: 'boolean',
  },
  sql: (input) => `
    WITH ${lockedUser(input)}, p AS (
      INSERT INTO passkeys (company_id, id, user_id, name, credential_id, public_key, counter, transports, backed_up,
                            created_at)
      VALUES (${input.company_id}, ${input.id}, ${input.user_id}, ${input.name}, ${input.credential_id},
              ${input.public_key}, ${input.counter}, ${input.transports}, ${input.backed_up}, ${input.now})
      ON CONFLICT (credential_id) DO NOTHING
      RETURNING id
    ), ${changedUser(input)}, ${event('passkey_added', input)}
    SELECT id FROM p`,
});

export const removePasskey = write('passkeys.remove', {
  inputs: CHANGE_INPUTS,
  sql: (input) => `
    WITH ${lockedUser(input)}, p AS (
      DELETE FROM passkeys p USING old WHERE ${ofUser(input)} AND p.user_id = old.id AND p.id = ${input.id}
      RETURNING p.id
    ), ${changedUser(input)}, ${event('passkey_removed', input)}
    SELECT id FROM p`,
});

/** Finds the passkey that an authenticator names, of a user who may sign in. */
export const findPasskey = read('passkeys.find', {
  inputs: { credential_id: 'bytea' },
  sql: (input) => `
    SELECT p.company_id, p.user_id, p.id, p.public_key, p.counter::float8 AS counter, p.transports
      FROM passkeys p JOIN users u ON u.company_id = p.company_id AND u.id = p.user_id
     WHERE p.credential_id = ${input.credential_id} AND u.state = 'active'`,
});

/** Bounds the time that a use spends on forgetting expired challenges. */
const MAX_PRUNED = 20;

/** SQL: table expressions that remember the challenge in `used`, which is empty if it was used before. */
const useChallenge = (input: {
  challenge_sha256: string;
  expires_at: string;
  now: string;
}) => `old_challenges AS MATERIALIZED (
      SELECT challenge_sha256 FROM used_challenges WHERE expires_at < ${input.now} LIMIT ${MAX_PRUNED}
         FOR UPDATE SKIP LOCKED
    ), pruned AS (
      DELETE FROM used_challenges c USING old_challenges o WHERE c.challenge_sha256 = o.challenge_sha256
    ), used AS (
      INSERT INTO used_challenges (challenge_sha256, expires_at) VALUES (${input.challenge_sha256}, ${input.expires_at})
      ON CONFLICT DO NOTHING RETURNING 1
    )`;
const CHALLENGE_INPUTS = { challenge_sha256: 'bytea', expires_at: 'timestamptz', now: 'timestamptz' } as const;

/** Returns no row if the challenge was used before. */
export const rememberChallenge = write('passkeys.remember_challenge', {
  inputs: CHALLENGE_INPUTS,
  sql: (input) => `WITH ${useChallenge(input)} SELECT 1 FROM used`,
});

/**
 * Returns no row if the challenge was used before, or if the counter of the authenticator has not grown, which a copy of
 * it would show. Authenticators without a counter always send 0.
 */
export const usePasskey = write('passkeys.use', {
  inputs: {
    ...CHALLENGE_INPUTS,
    company_id: 'uuid',
    id: 'uuid',
    counter: 'bigint',
    backed_up: 'boolean',
  },
  sql: (input) => `
    WITH ${useChallenge(input)}
    UPDATE passkeys p SET counter = ${input.counter}, backed_up = ${input.backed_up}, last_used_at = ${input.now}
      FROM used
     WHERE p.company_id = ${input.company_id} AND p.id = ${input.id}
       AND (${input.counter} > p.counter OR (${input.counter} = 0 AND p.counter = 0))
    RETURNING p.id`,
});
