import { adviserAudit, isOld, lockAdviser } from '../../../../company/advisers/audit.sql.ts';
import { isoTime, jsonObject, statement } from '../../../../kernel/sql/statement.ts';
import { syncFromAdvisers } from '../desired-state.sql.ts';

const isAdviser = 'd.company_id = $1 AND d.id = $2';

const isLockedAdviser = 'a.company_id = $1 AND a.id = $2';
const before = adviserAudit.snapshotOf('old');

const accountJson = jsonObject({
  adviser_id: 'd.id',
  provider: 'd.video_provider',
  account_id: 'v.account_id',
  client_id: 'v.client_id',
  user: 'v.host',
  updated_at: isoTime('coalesce(v.updated_at, d.updated_at)'),
});

/** $1 company, $2 adviser. Includes removed advisers: their account stays until it is disconnected. */
export const readAccount = statement(
  'video_accounts.read',
  `SELECT ${accountJson}::text
     FROM advisers d LEFT JOIN video_accounts v ON v.company_id = d.company_id AND v.id = d.video_account_id
    WHERE ${isAdviser} AND d.video_provider IS NOT NULL`,
);

/** $1 company, $2 adviser. Returns no row for a removed adviser. */
export const adviserExists = statement(
  'video_accounts.adviser',
  `SELECT 1 FROM advisers d WHERE ${isAdviser} AND d.removed_at IS NULL`,
);

// New credentials may be the correct ones, so pending and failed meetings are tried again.
const syncWithRetries = syncFromAdvisers('$9', `g.state IN ('pending', 'failed')`);

/**
 * $1 company, $2 adviser, $3 provider, $4 id for a new account, $5 account, $6 client, $7 host, $8 sealed secret, $9
 * now, $10 origin. The same account with the same host keeps its row and gets the new credentials; otherwise meetings
 * move to the new account. Returns no row if the adviser does not exist or is removed.
 */
export const connectAccount = statement(
  'video_accounts.connect',
  `WITH ${lockAdviser(`${isLockedAdviser} AND a.removed_at IS NULL`)}, kept AS (
     UPDATE video_accounts v SET client_id = $6, sealed_secret = $8, updated_at = $9 FROM old
      WHERE $3 = 'zoom' AND v.company_id = old.company_id AND v.id = old.video_account_id
        AND v.account_id = $5 AND v.host = $7
     RETURNING v.*
   ), created AS (
     INSERT INTO video_accounts
       (company_id, adviser_id, id, account_id, client_id, host, sealed_secret, created_at, updated_at)
     SELECT old.company_id, old.id, $4, $5, $6, $7, $8, $9, $9 FROM old
      WHERE $3 = 'zoom' AND NOT EXISTS (SELECT 1 FROM kept)
     RETURNING *
   ), v AS (
     SELECT * FROM kept UNION ALL SELECT * FROM created
   ), d AS (
     UPDATE advisers a SET video_provider = $3, video_account_id = (SELECT id FROM v), updated_at = $9
       FROM old WHERE ${isOld}
     RETURNING a.*
   ), g AS (
     ${syncWithRetries}
   ), e AS (
     ${adviserAudit.insertEvent('video_account_connected', { from: 'd a', at: '$9', origin: '$10', before })}
   )
   SELECT ${accountJson}::text FROM d LEFT JOIN v ON true`,
);

/** $1 company, $2 adviser, who may be removed, $3 now, $4 origin. Returns no row if no account is connected. */
export const disconnectAccount = statement(
  'video_accounts.disconnect',
  `WITH ${lockAdviser(`${isLockedAdviser} AND a.video_provider IS NOT NULL`)}, d AS (
     UPDATE advisers a SET video_provider = NULL, video_account_id = NULL, updated_at = $3 FROM old WHERE ${isOld}
     RETURNING a.*
   ), g AS (
     ${syncFromAdvisers('$3')}
   ), e AS (
     ${adviserAudit.insertEvent('video_account_disconnected', { from: 'd a', at: '$3', origin: '$4', before })}
   )
   SELECT ${jsonObject({ adviser_id: 'd.id', disconnected_at: isoTime('d.updated_at') })}::text FROM d`,
);

/** $1 company. Deletes the secrets of replaced accounts, except those still needed to remove a meeting. */
export const forgetUnusedSecrets = statement(
  'video_accounts.forget',
  `UPDATE video_accounts v SET sealed_secret = NULL
    WHERE v.company_id = $1 AND v.sealed_secret IS NOT NULL
      AND NOT EXISTS (
        SELECT 1 FROM advisers d WHERE d.company_id = $1 AND d.id = v.adviser_id AND d.video_account_id = v.id)
      AND NOT EXISTS (
        SELECT 1 FROM meetings g WHERE g.company_id = $1 AND g.account_id = v.id AND g.state = 'pending')`,
);

/** Returns the sealed secrets of all companies, to check or replace their encryption. */
export const listSealedSecrets = statement(
  'video_accounts.sealed',
  'SELECT company_id, id, adviser_id, sealed_secret FROM video_accounts WHERE sealed_secret IS NOT NULL',
);

/** $1 company, $2 account, $3 old sealed secret, $4 new one. Returns no row if the secret was changed or deleted. */
export const reencryptSecret = statement(
  'video_accounts.reencrypt',
  `UPDATE video_accounts SET sealed_secret = $4 WHERE company_id = $1 AND id = $2 AND sealed_secret = $3 RETURNING 1`,
);
