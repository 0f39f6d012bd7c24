import type { Adviser, CompanyAppointment } from '@case-records/client';
import { addDays, formatDate, formatTime, isOtherZone, zoneAbbreviation } from '../../components/time.ts';
import { service } from '../../service/client.ts';
import { ofRecords } from '../../service/following.ts';
import { type Loaded, useLoaded } from '../../service/loading.ts';
import { company, may } from '../../service/session.ts';
import { dayAt, instantOf, instantsOf, type Span, wallOf } from './axis.ts';
import type { ChosenSpan } from './chosen.ts';

/** An appointment with the instants that it is drawn by. */
export type Entry = CompanyAppointment & Span;

/** A time that is being chosen: for a new appointment, or for `entry`, which is being moved. */
export type Chosen = ChosenSpan & {
  entry?: Entry;
  /** Chosen with keys, so that it has the focus. */
  hasKeys: boolean;
};

const MAX_PAGES = 20;
const PAGE_SIZE = 200;

type Range = { entries: Entry[]; isCut: boolean };

/** The appointments of some days, of one adviser or of all. Those that began the day before may reach into them. */
export function useAppointments(days: readonly string[], adviser: string | undefined): Loaded<Range> {
  const from = `${addDays(days[0] ?? '', -1)} 00:00`;
  const to = `${addDays(days.at(-1) ?? '', 1)} 00:00`;
  const { timeZone } = company.value;
  return useLoaded(
    `diary/${from}/${to}/${adviser ?? ''}`,
    async (signal) => {
      const entries: Entry[] = [];
      const filter = { from, to, limit: PAGE_SIZE, ...(adviser && { adviser_email: adviser }) };
      let next: Record<string, string> | undefined = {};
      for (let page = 0; next && page < MAX_PAGES; page++) {
        const answer: Awaited<ReturnType<typeof service.listAppointments>> = await service.listAppointments({
          ...filter,
          ...next,
          signal,
        });
        entries.push(...answer.data.map(toEntry));
        next = answer.next;
      }
      const begin = instantOf(`${days[0]}T00:00`, timeZone);
      return { entries: entries.filter(({ end }) => end > begin), isCut: next !== undefined };
    },
    ofRecords('appointment', 'case'),
  );
}

/** How many days before an appointment its reminders go out, if the role may know it. */
export const useLeadDays = (): number | undefined =>
  useLoaded(
    may('manage') ? 'reminder-lead-days' : undefined,
    async (signal) => (await service.getCompany({ signal })).data.reminder_lead_days,
  ).data;

const toEntry = (found: CompanyAppointment): Entry => ({
  ...found,
  start: Date.parse(found.start_time),
  end: Date.parse(found.end_time_utc),
});

/** Whether the client stayed away. The service has no word for it, so the type of the appointment says it. */
export const NO_SHOW = 'no-show';

export function stateOf({ attended, cancelled, type }: { attended: 0 | 1; cancelled: 0 | 1; type: string | null }) {
  if (cancelled) return 'cancelled';
  if (attended) return 'attended';
  return type === NO_SHOW ? NO_SHOW : undefined;
}

const iso = (at: number): string => new Date(at).toISOString();

/** A time of day, with its zone if the clocks repeat it or the browser is in another zone. */
export function timeText(at: number): string {
  const { timeZone } = company.value;
  const isRepeated = instantsOf(wallOf(at, timeZone), timeZone).length > 1;
  const zone = isRepeated || isOtherZone(timeZone) ? ` ${zoneAbbreviation(iso(at), timeZone)}` : '';
  return formatTime(iso(at), timeZone) + zone;
}

export const dateText = (at: number): string => formatDate(iso(at), company.value.timeZone);
export const instantText = (at: number): string => `${dateText(at)} ${timeText(at)}`;

export function spanText({ start, end }: Span): string {
  const sameDay = dayAt(start, company.value.timeZone) === dayAt(end, company.value.timeZone);
  return `${instantText(start)} – ${sameDay ? timeText(end) : instantText(end)}`;
}

export const sameAddress = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

export const adviserName = (email: string, advisers: readonly Adviser[]): string =>
  advisers.find((one) => sameAddress(one.email, email))?.name ?? email;
