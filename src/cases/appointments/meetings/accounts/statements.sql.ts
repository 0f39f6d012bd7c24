import { adviserAudit, isOld, lockAdviser } from '../../../../company/advisers/audit.sql.ts';
import { isoTime, jsonObject } from '../../../../kernel/sql/json.ts';
import { read, write } from '../../../../kernel/sql/statement.ts';
import { syncFromAdvisers } from '../desired-state.sql.ts';

/** The adviser, whose row is locked first. */
const ADVISER_INPUTS = { company_id: 'uuid', id: 'uuid' } as const;
const isAdviser = (alias: string, input: Record<keyof typeof ADVISER_INPUTS, string>) =>
  `${alias}.company_id = ${input.company_id} AND ${alias}.id = ${input.id}`;

const before = adviserAudit.snapshotOf('old');

const accountJson = jsonObject({
  adviser_id: 'd.id',
  provider: 'd.video_provider',
  account_id: 'v.account_id',
  client_id: 'v.client_id',
  user: 'v.host',
  updated_at: isoTime('coalesce(v.updated_at, d.updated_at)'),
});

/** Includes removed advisers: their account stays until it is disconnected. */
export const readAccount = read('video_accounts.read', {
  inputs: ADVISER_INPUTS,
  sql: (input) => `
    SELECT ${accountJson}::text
      FROM advisers d LEFT JOIN video_accounts v ON v.company_id = d.company_id AND v.id = d.video_account_id
     WHERE ${isAdviser('d', input)} AND d.video_provider IS NOT NULL`,
});

/** Returns no row for a removed adviser. */
export const adviserExists = read('video_accounts.adviser', {
  inputs: ADVISER_INPUTS,
  sql: (input) => `SELECT 1 FROM advisers d WHERE ${isAdviser('d', input)} AND d.removed_at IS NULL`,
});

/**
 * `video_account_id` is for a new account: the same account with the same host keeps its row and gets the new
 * credentials; otherwise meetings move to the new account. Returns no row if the adviser does not exist or is removed.
 */
export const connectAccount = write('video_accounts.connect', {
  inputs: {
    ...ADVISER_INPUTS,
    provider: 'text',
    video_account_id: 'uuid',
    account_id: 'text?',
    client_id: 'text?',
    host: 'text?',
    sealed_secret: 'text?',
    now: 'timestamptz',
    origin: 'json',
  },
  sql: (input) => `
    WITH ${lockAdviser(`${isAdviser('a', input)} AND a.removed_at IS NULL`)}, kept AS (
      UPDATE video_accounts v
         SET client_id = ${input.client_id}, sealed_secret = ${input.sealed_secret}, updated_at = ${input.now}
        FROM old
       WHERE ${input.provider} = 'zoom' AND v.company_id = old.company_id AND v.id = old.video_account_id
         AND v.account_id = ${input.account_id} AND v.host = ${input.host}
      RETURNING v.*
    ), created AS (
      INSERT INTO video_accounts
        (company_id, adviser_id, id, account_id, client_id, host, sealed_secret, created_at, updated_at)
      SELECT old.company_id, old.id, ${input.video_account_id}, ${input.account_id}, ${input.client_id}, ${input.host},
             ${input.sealed_secret}, ${input.now}, ${input.now}
        FROM old
       WHERE ${input.provider} = 'zoom' AND NOT EXISTS (SELECT 1 FROM kept)
      RETURNING *
    ), v AS (
      SELECT * FROM kept UNION ALL SELECT * FROM created
    ), d AS (
      UPDATE advisers a
         SET video_provider = ${input.provider}, video_account_id = (SELECT id FROM v), updated_at = ${input.now}
        FROM old WHERE ${isOld}
      RETURNING a.*
    ), g AS (
      -- The new credentials may be the correct ones, so pending and failed meetings are tried again.
      ${syncFromAdvisers(input.now, `g.state IN ('pending', 'failed')`)}
    ), event AS (
      ${adviserAudit.insertEvent('video_account_connected', {
        from: 'd a',
        at: input.now,
        origin: input.origin,
        before,
      })}
    )
    SELECT ${accountJson}::text FROM d LEFT JOIN v ON true`,
});

/** The adviser may be removed. Returns no row if no account is connected. */
export const disconnectAccount = write('video_accounts.disconnect', {
  inputs: { ...ADVISER_INPUTS, now: 'timestamptz', origin: 'json' },
  sql: (input) => `
    WITH ${lockAdviser(`${isAdviser('a', input)} AND a.video_provider IS NOT NULL`)}, d AS (
      UPDATE advisers a SET video_provider = NULL, video_account_id = NULL, updated_at = ${input.now}
        FROM old WHERE ${isOld}
      RETURNING a.*
    ), g AS (
      ${syncFromAdvisers(input.now)}
    ), event AS (
      ${adviserAudit.insertEvent('video_account_disconnected', {
        from: 'd a',
        at: input.now,
        origin: input.origin,
        before,
      })}
    )
    SELECT ${jsonObject({ adviser_id: 'd.id', disconnected_at: isoTime('d.updated_at') })}::text FROM d`,
});

/** Deletes the secrets of replaced accounts, except those still needed to remove a meeting. */
export const forgetUnusedSecrets = write('video_accounts.forget', {
  inputs: { company_id: 'uuid' },
  sql: (input) => `
    UPDATE video_accounts v SET sealed_secret = NULL
     WHERE v.company_id = ${input.company_id} AND v.sealed_secret IS NOT NULL
       AND NOT EXISTS (
         SELECT 1 FROM advisers d
          WHERE d.company_id = v.company_id AND d.id = v.adviser_id AND d.video_account_id = v.id)
       AND NOT EXISTS (
         SELECT 1 FROM meetings g
          WHERE g.company_id = v.company_id AND g.account_id = v.id AND g.state = 'pending')`,
});

/** Returns the sealed secrets of all companies, to check or replace their encryption. */
export const listSealedSecrets = read('video_accounts.sealed', {
  inputs: {},
  sql: () => 'SELECT company_id, id, adviser_id, sealed_secret FROM video_accounts WHERE sealed_secret IS NOT NULL',
});

/** Returns no row if the secret was changed or deleted in the meantime. */
export const reencryptSecret = write('video_accounts.reencrypt', {
  inputs: { company_id: 'uuid', id: 'uuid', old_sealed_secret: 'text', new_sealed_secret: 'text' },
  sql: (input) => `
    UPDATE video_accounts SET sealed_secret = ${input.new_sealed_secret}
     WHERE company_id = ${input.company_id} AND id = ${input.id} AND sealed_secret = ${input.old_sealed_secret}
    RETURNING 1`,
});
