import type { AuditLog } from '../kernel/audit/audit-log.ts';
import { InvalidValue } from '../kernel/errors.ts';

export const eventTypes = (auditLogs: readonly AuditLog[]): string[] =>
  auditLogs.flatMap(({ record, actions }) => actions.map((action) => `${record}.${action}`));

/** Returns the types that match names such as `invoice.paid`, `invoice.*` and `*`. Throws if a name matches none. */
export function expandTypes(knownTypes: readonly string[], names: readonly string[]): string[] {
  const types = names.flatMap((name) => {
    const found = knownTypes.filter((type) => name === '*' || name === type || name === `${type.split('.', 1)[0]}.*`);
    if (found.length === 0) throw new InvalidValue('unknown', `"${name}" is not a type of event`);
    return found;
  });
  return [...new Set(types)];
}
