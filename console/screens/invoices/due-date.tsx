import type { InvoiceStatus } from '@case-records/client';
import { DateTime } from '../../components/values.tsx';
import { canBePaid, daysSinceDue } from './status.ts';
import { text } from './texts.ts';

/** The day on which an invoice is due, and how late it is. */
export function DueDate({ of: { date_due, status } }: { of: { date_due: string; status: InvoiceStatus } }) {
  const days = canBePaid(status) ? daysSinceDue(date_due) : -1;
  return (
    <div>
      <DateTime at={date_due} show="date" />
      {days > 0 && <small class="late">{text.daysOverdue(days)}</small>}
      {days === 0 && <small>{text.dueToday}</small>}
    </div>
  );
}
