/**
 * synchronous_commit can be changed at any time for a role, a database or the server, so that commits do not wait for
 * the disk (`off`) or for the standbys (`local`). A crash would then lose acknowledged writes, so each connection
 * raises such a setting before its first statement. Stricter settings such as `remote_apply` are kept.
 */
export const WITH_SAFE_COMMITS = `SELECT set_config('synchronous_commit',
  CASE WHEN current_setting('synchronous_commit') IN ('off', 'local') THEN 'on'
       ELSE current_setting('synchronous_commit') END, false)`;
