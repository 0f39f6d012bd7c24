import type { AuditLog } from '../kernel/audit/audit-log.ts';
import { InvalidValue } from '../kernel/errors.ts';

export const eventTypes = (logs: readonly AuditLog[]): string[] =>
  logs.flatMap(({ record, verbs }) => verbs.map((verb) => `${record}.${verb}`));

/** The types that are meant by names such as `invoice.paid` and `invoice.*`; `*` means all. */
export function expandTypes(known: readonly string[], names: readonly string[]): string[] {
  const meant = names.flatMap((name) => {
    const found = known.filter((type) => name === '*' || name === type || name === `${type.split('.', 1)[0]}.*`);
    if (found.length === 0) throw new InvalidValue('unknown', `"${name}" is not a type of event`);
    return found;
  });
  return [...new Set(meant)];
}
