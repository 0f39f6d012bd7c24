/**
 * A role, a database or the server can be told at any time not to wait for the disk (`off`) or for the standbys
 * (`local`), and a crash would then lose acknowledged writes. So each connection raises such a setting before its first
 * statement, and keeps every other one, such as `remote_apply`, for as long as it lives.
 */
export const WITH_SAFE_COMMITS = `SELECT set_config('synchronous_commit',
  CASE WHEN current_setting('synchronous_commit') IN ('off', 'local') THEN 'on'
       ELSE current_setting('synchronous_commit') END, false)`;
