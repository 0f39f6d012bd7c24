/** fsync and wal_level keep their defaults, so that an acknowledged change survives a power cut. */
const DEFAULTS = {
  max_connections: '100',
  shared_buffers: '128MB',
  timezone: 'UTC',
  log_timezone: 'UTC',
  // Ends the queries of a killed service, which would otherwise continue and hold their locks.
  client_connection_check_interval: '1s',
  // JIT compilation costs more than it saves on short statements.
  jit: 'off',
  // Statements, parameters and error texts can contain personal data, so they are not logged. The level "log" omits
  // errors, which the service receives anyway, and keeps crashes and recoveries.
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_min_duration_statement: '-1',
  log_statement: 'none',
  log_error_verbosity: 'terse',
  log_parameter_max_length: '0',
  log_parameter_max_length_on_error: '0',
  log_checkpoints: 'off',
};

/** The server listens only on a socket in its own directory, which only its user can open. */
const SOCKET_ONLY = {
  port: '5432',
  listen_addresses: '',
  unix_socket_directories: '.',
  unix_socket_permissions: '0700',
};

export function serverSettings(changes: Record<string, string> = {}): Record<string, string> {
  return { ...DEFAULTS, ...changes, ...SOCKET_ONLY };
}
