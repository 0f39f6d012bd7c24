import { company } from '../service/session.ts';
import { formatMoney } from './money.ts';
import { formatDate, formatTime, isOtherZone, zoneAbbreviation } from './time.ts';

/** An instant in the zone of the company; the zone is named if the one of the browser differs. */
export function DateTime({ at, show = 'both' }: { at: string; show?: 'both' | 'date' | 'time' }) {
  const { timeZone } = company.value;
  const parts = [
    show !== 'time' && formatDate(at, timeZone),
    show !== 'date' && formatTime(at, timeZone),
    show !== 'date' && isOtherZone(timeZone) && zoneAbbreviation(at, timeZone),
  ];
  return <time dateTime={at}>{parts.filter(Boolean).join(' ')}</time>;
}

/** The day of a wall time of the company. */
export const Day = ({ day }: { day: string }) => (
  <time dateTime={day.slice(0, 10)}>{formatDate(`${day.slice(0, 10)}T12:00:00Z`, 'UTC')}</time>
);

/** An amount, exactly as the service sent it. */
export const Money = ({ amount }: { amount: number | string }) => (
  <span class="money">{formatMoney(amount, company.value.currency)}</span>
);

/** A word with a colour. The word alone says everything. */
export const Badge = ({ children, tone = 'neutral' }: { children: string; tone?: Tone }) => (
  <span class={`badge ${tone}`}>{children}</span>
);

export type Tone = 'neutral' | 'good' | 'warning' | 'bad' | 'info';
