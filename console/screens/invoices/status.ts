import type { InvoiceStatus } from '@case-records/client';
import { dayOf } from '../../components/time.ts';
import type { Tone } from '../../components/values.tsx';
import { company } from '../../service/session.ts';

const TONES = { Paid: 'good', 'Part Paid': 'info', 'Not Paid': 'warning', Cancelled: 'neutral' } as const;
const MS_PER_DAY = 86_400_000;

export const canBePaid = (status: InvoiceStatus): boolean => status === 'Not Paid' || status === 'Part Paid';

/** Returns how many days ago it was due, on the calendar of the company; 0: today, below 0: it is not due yet. */
export function daysSinceDue(dateDue: string): number {
  const { timeZone } = company.value;
  const today = dayOf(new Date().toISOString(), timeZone);
  return (Date.parse(today) - Date.parse(dayOf(dateDue, timeZone))) / MS_PER_DAY;
}

/** An invoice is overdue from the day after the one on which it was due. */
export const statusTone = (status: InvoiceStatus, dateDue: string): Tone =>
  canBePaid(status) && daysSinceDue(dateDue) > 0 ? 'bad' : TONES[status];
