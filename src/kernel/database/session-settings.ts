/**
 * Limits that the server enforces, so that a transaction ends even if the connection to this process is cut or stalls
 * in the middle of it. They end a connection whose peer is gone, and have no effect on a Unix socket.
 */
const TCP_LIMITS = {
  tcp_keepalives_idle: '10',
  tcp_keepalives_interval: '5',
  tcp_keepalives_count: '3',
  tcp_user_timeout: '20000',
};

type Settings = Readonly<Record<string, string | number>>;

/**
 * Returns one statement that makes the settings for the session, or for one transaction if sessions are shared: a
 * pooler refuses them as parameters of the connection. Unknown settings are skipped: `transaction_timeout` exists since
 * PostgreSQL 17.
 *
 * synchronous_commit can be changed at any time for a role, a database or the server, so that commits do not wait for
 * the disk (`off`) or for the standbys (`local`). A crash would then lose acknowledged writes, so such a setting is
 * raised. Stricter ones such as `remote_apply` are kept.
 */
export function settingsSql(settings: Settings, { isShared }: { isShared: boolean }): string {
  // Behind a pooler the peer of the server is the pooler, whose connections serve others too.
  const all = isShared ? settings : { ...TCP_LIMITS, ...settings };
  const expressions = Object.entries(all).map(
    ([name, value]) =>
      `CASE WHEN current_setting('${name}', true) IS NOT NULL THEN set_config('${name}', '${value}', ${isShared}) END`,
  );
  return `SELECT set_config('synchronous_commit',
    CASE WHEN current_setting('synchronous_commit') IN ('off', 'local') THEN 'on'
         ELSE current_setting('synchronous_commit') END, ${isShared}),
    ${expressions.join(',\n    ')}`;
}
