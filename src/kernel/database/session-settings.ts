/**
 * Limits that the server keeps by itself, so that a transaction ends also when the line to this process is cut, or
 * stands still, before the transaction was finished. The first four end a connection whose peer is gone; they have no
 * effect on a Unix socket. `transaction_timeout` is known from PostgreSQL 17 on.
 */
const TCP_LIMITS = {
  tcp_keepalives_idle: '10',
  tcp_keepalives_interval: '5',
  tcp_keepalives_count: '3',
  tcp_user_timeout: '20000',
};

/** Returns the SQL with which a connection begins. Without a time a transaction may take as long as its reader does. */
export function sessionLimits(transactionMs?: number): string {
  const limits = { ...TCP_LIMITS, ...(transactionMs !== undefined && { transaction_timeout: String(transactionMs) }) };
  const rows = Object.entries(limits).map(([name, value]) => `('${name}', '${value}')`);
  return `SELECT set_config(s.name, l.value, false) FROM (VALUES ${rows.join(', ')}) AS l (name, value) JOIN pg_settings s ON s.name = l.name`;
}
