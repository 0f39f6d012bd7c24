import type { InputNames, Inputs } from '../../../kernel/sql/inputs.ts';
import { isoTime, jsonObject } from '../../../kernel/sql/json.ts';
import { read, write } from '../../../kernel/sql/statement.ts';
import { userAudit } from '../users/audit.sql.ts';

const USER_INPUTS = { company_id: 'uuid', user_id: 'uuid' } as const;
const isUser = (input: { company_id: string; user_id: string }) =>
  `u.company_id = ${input.company_id} AND u.id = ${input.user_id}`;
const ofUser = (input: { company_id: string; user_id: string }) =>
  `p.company_id = ${input.company_id} AND p.user_id = ${input.user_id}`;

const hasPasskeys = `EXISTS (SELECT 1 FROM passkeys p WHERE p.company_id = u.company_id AND p.user_id = u.id)`;
const hasPassword = `(u.password_hash IS NOT NULL AND u.sealed_secret IS NOT NULL)`;

const passkey = jsonObject({
  id: 'p.id',
  name: 'p.name',
  backed_up: 'p.backed_up',
  created_at: isoTime('p.created_at'),
  last_used_at: isoTime('p.last_used_at'),
});

/** The signed-in user and what proves who that is. */
export const showAccount = read('account.show', {
  inputs: USER_INPUTS,
  sql: (input) => `
    SELECT ${jsonObject({
      id: 'u.id',
      email: 'u.email',
      name: 'u.name',
      role: 'u.role',
      adviser_id: 'u.adviser_id',
      state: 'u.state',
      passkeys: `coalesce((SELECT json_agg(${passkey} ORDER BY p.created_at, p.id) FROM passkeys p
                             WHERE ${ofUser(input)}), '[]')`,
      password_set_at: isoTime('u.password_set_at'),
      has_one_time_codes: 'u.sealed_secret IS NOT NULL',
      recovery_codes_left: 'cardinality(u.recovery_sha256s)',
    })}::text
      FROM users u WHERE ${isUser(input)}`,
});

export const findFactors = read('account.find_factors', {
  inputs: USER_INPUTS,
  sql: (input) => `
    SELECT u.email, u.name, u.state, u.password_hash, u.sealed_secret, u.code_step,
           cardinality(u.recovery_sha256s) AS recovery_codes, ${hasPassword} AS has_password, c.name AS company,
           (SELECT count(*)::int FROM passkeys p WHERE ${ofUser(input)}) AS passkeys
      FROM users u JOIN companies c ON c.id = u.company_id WHERE ${isUser(input)}`,
});

const CHANGE_INPUTS = { ...USER_INPUTS, now: 'timestamptz', origin: 'json' } as const;
type Action = Parameters<typeof userAudit.insertEvent>[0];

/** A change of the row of a user, with its event. Returns no row if `where` is not met. */
const change = <const I extends Inputs>(
  name: string,
  action: Action,
  inputs: I,
  set: (input: InputNames<I & typeof CHANGE_INPUTS>) => string,
  where: (input: InputNames<I & typeof CHANGE_INPUTS>) => string = () => 'true',
) =>
  write(`account.${name}`, {
    inputs: { ...CHANGE_INPUTS, ...inputs },
    sql: (names) => {
      const input = names as InputNames<I & typeof CHANGE_INPUTS>;
      return `
    WITH old AS (
      SELECT u.* FROM users u WHERE ${isUser(input)} AND ${where(input)} FOR NO KEY UPDATE
    ), u AS (
      UPDATE users u SET ${set(input)}, updated_at = ${input.now}
        FROM old WHERE u.company_id = old.company_id AND u.id = old.id
      RETURNING u.*
    ), event AS (
      ${userAudit.insertEvent(action, { from: 'u', at: input.now, origin: input.origin, before: userAudit.snapshotOf('old') })}
    )
    SELECT u.id FROM u`;
    },
  });

/** Makes a user active who has enough factors to sign in and was not active before. */
export const activate = change(
  'activate',
  'activated',
  {},
  (input) => `state = 'active', activated_at = ${input.now}`,
  () => `u.state = 'invited' AND (${hasPassword} OR ${hasPasskeys})`,
);

export const setPassword = change(
  'set_password',
  'password_set',
  { password_hash: 'text' },
  (input) => `password_hash = ${input.password_hash}, password_set_at = ${input.now}`,
);

/** The code that proved the new secret is used up. */
export const setCodes = change(
  'set_codes',
  'codes_set',
  { sealed_secret: 'text', code_step: 'bigint' },
  (input) => `sealed_secret = ${input.sealed_secret}, code_step = ${input.code_step}`,
);

export const setRecoveryCodes = change(
  'set_recovery_codes',
  'recovery_codes_created',
  { hashes: 'bytea[]' },
  (input) => `recovery_sha256s = ${input.hashes}`,
);

/** Removes the password together with the one-time codes. Returns no row if there is no passkey left to sign in with. */
export const removePassword = change(
  'remove_password',
  'password_removed',
  {},
  () => 'password_hash = NULL, password_set_at = NULL, sealed_secret = NULL, code_step = NULL',
  () => hasPasskeys,
);

/** Uses a recovery code up. Returns no row if the user does not have it. */
export const useRecoveryCode = change(
  'use_recovery_code',
  'recovery_code_used',
  { hash: 'bytea' },
  (input) => `recovery_sha256s = array_remove(u.recovery_sha256s, ${input.hash})`,
  (input) => `${input.hash} = ANY (u.recovery_sha256s)`,
);

/** Uses a one-time code up. Returns no row if it or a later one was used before: even one that another request sent. */
export const useCode = write('account.use_code', {
  inputs: { ...USER_INPUTS, code_step: 'bigint' },
  sql: (input) => `
    UPDATE users u SET code_step = ${input.code_step}
     WHERE ${isUser(input)} AND u.sealed_secret IS NOT NULL
       AND (u.code_step IS NULL OR u.code_step < ${input.code_step})
    RETURNING u.id`,
});
