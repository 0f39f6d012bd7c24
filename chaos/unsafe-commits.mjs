// Loaded into the service of a control run with --import: its commits do not wait for the disk, as without the guard of
// src/kernel/database/session-settings.ts.
import pg from 'pg';

const { query } = pg.Client.prototype;
const withoutGuard = (text) =>
  text?.includes("set_config('synchronous_commit'") ? text.replace("THEN 'on'", "THEN 'off'") : text;

pg.Client.prototype.query = function (config, ...rest) {
  if (typeof config === 'string') return query.call(this, withoutGuard(config), ...rest);
  if (typeof config?.text === 'string') config.text = withoutGuard(config.text);
  return query.call(this, config, ...rest);
};
