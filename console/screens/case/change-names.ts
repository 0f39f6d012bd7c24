import type { AuditEventActor } from '@case-records/client';
import { text } from './texts.ts';

/** The records that people call by another name than the API. */
const RECORDS: Readonly<Record<string, string>> = { interaction: 'Contact', customer: 'Client' };

/** Returns `Invoice: payment recorded` for `invoice.payment_recorded`. */
export function changeName(type: string): string {
  const [record = '', action = ''] = type.replaceAll('_', ' ').split('.');
  return `${RECORDS[record] ?? record.charAt(0).toUpperCase() + record.slice(1)}: ${action}`;
}

export function actorName({ type, name }: AuditEventActor): string {
  if (name) return name;
  return type === 'operator' ? text.operatorActor : text.systemActor;
}
