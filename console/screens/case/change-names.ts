import type { AuditEventActor } from '@case-records/client';
import { text } from './texts.ts';

/** Returns `Invoice: payment recorded` for `invoice.payment_recorded`. */
export function changeName(type: string): string {
  const [record = '', action = ''] = type.replaceAll('_', ' ').split('.');
  return `${record.charAt(0).toUpperCase()}${record.slice(1)}: ${action}`;
}

export function actorName({ type, name }: AuditEventActor): string {
  if (name) return name;
  return type === 'operator' ? text.operatorActor : text.systemActor;
}
