/** fsync and wal_level keep their defaults: an acknowledged change survives a power cut. */
const DEFAULTS = {
  max_connections: '100',
  shared_buffers: '128MB',
  timezone: 'UTC',
  log_timezone: 'UTC',
  // A query of a service that was killed would otherwise run on and hold its locks.
  client_connection_check_interval: '1s',
  // Compiling costs more than it saves on short statements.
  jit: 'off',
  // Statements, parameters and also the text of errors can contain personal data, so none of them is
  // logged: "log" leaves out errors, which reach the service anyway, and keeps crashes and recoveries.
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_min_duration_statement: '-1',
  log_statement: 'none',
  log_error_verbosity: 'terse',
  log_parameter_max_length: '0',
  log_parameter_max_length_on_error: '0',
  log_checkpoints: 'off',
};

/** The server is reachable in its own directory only, which belongs to its user alone. */
const SOCKET_ONLY = {
  port: '5432',
  listen_addresses: '',
  unix_socket_directories: '.',
  unix_socket_permissions: '0700',
};

export function serverSettings(changes: Record<string, string> = {}): Record<string, string> {
  return { ...DEFAULTS, ...changes, ...SOCKET_ONLY };
}
