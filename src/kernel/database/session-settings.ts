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

/**
 * Returns SQL that sets the limits of a new connection, a statement because poolers such as PgBouncer refuse them as
 * parameters of the connection. Without `transaction_timeout` a transaction may take as long as its reader does; the
 * setting exists since PostgreSQL 17, and unknown settings are skipped.
 */
export function sessionLimits(timeoutsMs: Readonly<Record<string, number>>): string {
  const rows = Object.entries({ ...TCP_LIMITS, ...timeoutsMs }).map(([name, value]) => `('${name}', '${value}')`);
  return `SELECT set_config(s.name, l.value, false)
    FROM (VALUES ${rows.join(', ')}) AS l (name, value) JOIN pg_settings s ON s.name = l.name`;
}
