// Loaded into the service of a control run with --import: its commits do not wait for the disk, as without the guard of
// src/kernel/database/session-settings.ts.
import pg from 'pg';

const { query } = pg.Client.prototype;
pg.Client.prototype.query = function (config, ...rest) {
  const isGuard = typeof config === 'string' && config.includes("set_config('synchronous_commit'");
  return query.call(this, isGuard ? config.replace("THEN 'on'", "THEN 'off'") : config, ...rest);
};
