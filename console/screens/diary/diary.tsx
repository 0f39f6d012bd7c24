import type { Adviser } from '@case-records/client';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { Button } from '../../components/button.tsx';
import { Icon } from '../../components/icon.tsx';
import { useNow } from '../../components/now.ts';
import { ErrorState } from '../../components/states.tsx';
import { addDays, formatDate, isDay } from '../../components/time.ts';
import { useKeys } from '../../navigation/keys.ts';
import { go, place, withQuery } from '../../navigation/place.ts';
import { useAdvisers } from '../../service/company-data.ts';
import { company, may, signedIn } from '../../service/session.ts';
import { AppointmentPanel } from './appointment.tsx';
import { type Axis, axisOf, type Day, dayAt, instantOf, ROW_MS, type Span, weekOf } from './axis.ts';
import { BookingPanel } from './booking.tsx';
import { adviserName, type Chosen, type Entry, sameAddress, useAppointments } from './diary-data.ts';
import { type Column, Grid } from './grid.tsx';
import { text } from './texts.ts';

const ALL = 'all';
const HOUR_MS = 60 * 60_000;
const DAYS = { day: 1, week: 7 } as const;
type View = keyof typeof DAYS;

/** What the address says of the panel that is open. */
const ADDRESS = ['from', 'to', 'for', 'replaces', 'case'] as const;

/** The diary of the company: a day with a column for each adviser, or a week. All that is chosen is in the address. */
export function DiaryScreen() {
  const now = useNow();
  const { timeZone } = company.value;
  const { query } = place.value;
  const advisers = useAdvisers();
  const today = dayAt(now, timeZone);
  const asked = query.get('date');
  const date = isDay(asked) ? asked : today;
  const view: View = query.get('view') === 'week' ? 'week' : 'day';
  const days = view === 'week' ? weekOf(date) : [date];
  // A week is that of the person, if the person is an adviser.
  const own = advisers.find(({ id }) => id === signedIn.value?.user.adviser_id)?.email;
  const filter = query.get('adviser') ?? (view === 'week' ? own : undefined) ?? ALL;
  const adviser = filter === ALL ? undefined : filter;
  const found = useAppointments(days, adviser);
  const entries = found.data?.entries ?? [];
  const [chosen, setChosen] = useState<Chosen>();
  const [said, setSaid] = useState('');
  const [focusOn, setFocusOn] = useState<FocusOn>();
  const mayWrite = may('appointments:write');

  const axis = useMemo(() => axisOf(days, timeZone), [days.join(), timeZone]);
  const columns =
    view === 'week'
      ? weekColumns(axis, entries, adviser, today)
      : dayColumns(axis.days[0] as Day, entries, adviser, advisers, date === today);

  const show = (changes: Record<string, string | undefined>) => go(withQuery(changes));
  const step = (by: number) => show({ date: addDays(date, by * DAYS[view]) });
  const choose = (next: Chosen | undefined) => {
    if (!next && chosen?.hasKeys) {
      setSaid(chosen.entry ? text.left : '');
      if (chosen.entry) setFocusOn({ id: chosen.entry.id, after: undefined });
    }
    setChosen(next);
    const day = next && dayAt(next.start, timeZone);
    if (day && !days.includes(day)) go(withQuery({ date: day }), { replace: true });
  };
  const startChoosing = () => {
    const firstDay = days.includes(today) ? today : (days[0] ?? today);
    const morning = instantOf(`${firstDay}T09:00`, timeZone);
    const next = firstDay === today ? Math.ceil(now / (2 * ROW_MS)) * 2 * ROW_MS : morning;
    const start = dayAt(next, timeZone) === firstDay ? next : morning;
    choose({ start, end: start + HOUR_MS, adviser: adviser ?? columns[0]?.adviser, hasKeys: true });
  };
  const open = (changes: { open: string; at?: Span; for?: string | undefined; replaces?: string }) =>
    show({
      open: changes.open,
      from: changes.at && new Date(changes.at.start).toISOString(),
      to: changes.at && new Date(changes.at.end).toISOString(),
      for: changes.for,
      replaces: changes.replaces,
    });
  const close = () => {
    const cleared = Object.fromEntries(ADDRESS.map((name) => [name, undefined]));
    go(withQuery({ open: undefined, ...cleared }), { replace: true });
  };
  const keyOf = (entry: Entry) => `${entry.case.id}/${entry.id}`;
  const drop = (at: Chosen) => {
    const { entry } = at;
    if (!entry) return open({ open: 'new', at, for: at.adviser });
    const isOther = at.adviser !== undefined && !sameAddress(at.adviser, entry.adviser_email);
    if (!isOther && at.start === entry.start && at.end === entry.end) return choose(undefined);
    if (isOther) open({ open: 'new', at, for: at.adviser, replaces: keyOf(entry) });
    else open({ open: keyOf(entry), at });
  };
  const saved = (id: string) => {
    setChosen(undefined);
    setFocusOn({ id, after: found.data });
    close();
  };
  // The appointment that was saved or left has the focus, also once it is shown in its new place.
  const opened = query.get('open');
  useEffect(() => {
    if (!focusOn || chosen || opened) return;
    document.querySelector<HTMLElement>(`[data-appointment="${CSS.escape(focusOn.id)}"]`)?.focus();
    if (found.data !== focusOn.after) setFocusOn(undefined);
  }, [focusOn, found.data, chosen, opened]);

  useKeys([
    { keys: 'd', label: text.day, run: () => show({ view: undefined }) },
    { keys: 'w', label: text.week, run: () => show({ view: 'week' }) },
    { keys: 't', label: text.today, run: () => show({ date: undefined }) },
    { keys: 'k', label: text.earlier[view], run: () => step(-1) },
    { keys: 'j', label: text.later[view], run: () => step(1) },
    ...(mayWrite
      ? [
          { keys: 'n', label: text.book, run: () => open({ open: 'new' }) },
          { keys: 's', label: text.choose, run: startChoosing },
        ]
      : []),
  ]);

  const [openCase = '', openId = ''] = opened?.split('/') ?? [];
  const shownEntry = entries.find(({ id }) => id === openId);
  const [replacedCase, replacedId] = query.get('replaces')?.split('/') ?? [];
  const panel = { onClose: close, onSaved: saved };
  return (
    <>
      <header class="screen-header">
        <h1>{text.title}</h1>
        {mayWrite && (
          <Button kind="primary" href={withQuery({ open: 'new' })}>
            <Icon name="plus" /> {text.book}
          </Button>
        )}
      </header>
      <div class="diary-bar">
        <div class="diary-steps">
          <Button label={text.earlier[view]} href={withQuery({ date: addDays(date, -DAYS[view]) })}>
            <Icon name="earlier" />
          </Button>
          <Button href={withQuery({ date: undefined })}>{text.today}</Button>
          <Button label={text.later[view]} href={withQuery({ date: addDays(date, DAYS[view]) })}>
            <Icon name="later" />
          </Button>
        </div>
        <input
          type="date"
          aria-label={text.date}
          value={date}
          onChange={(event) => isDay(event.currentTarget.value) && show({ date: event.currentTarget.value })}
        />
        <h2>{titleOf(days)}</h2>
        <nav class="chips" aria-label={text.view}>
          {(['day', 'week'] as const).map((one) => (
            <a
              key={one}
              href={withQuery({ view: one === 'week' ? one : undefined })}
              aria-current={one === view ? 'true' : undefined}
            >
              {text[one]}
            </a>
          ))}
        </nav>
        <select
          aria-label={text.adviser}
          value={filter}
          onChange={(event) => show({ adviser: event.currentTarget.value })}
        >
          <option value={ALL}>{text.everyone}</option>
          {advisers.map(({ id, email, name }) => (
            <option key={id} value={email}>
              {name}
            </option>
          ))}
        </select>
        <small role="status">{found.data && text.count(entries.length)}</small>
      </div>
      {view === 'day' && axis.days.map((day) => hoursOf(day) !== 24 && <p class="note">{text.clocks(hoursOf(day))}</p>)}
      {found.data?.isCut && <p class="note">{text.tooMany}</p>}
      {found.error !== undefined && found.data === undefined ? (
        <div class="card">
          <ErrorState error={found.error} retry={found.reload} />
        </div>
      ) : columns.length === 0 && !found.isLoading ? (
        <p class="note">{text.noAdviser}</p>
      ) : (
        <Grid
          axis={axis}
          columns={columns}
          advisers={advisers}
          now={now}
          pageDays={DAYS[view]}
          mayWrite={mayWrite}
          isBusy={found.isLoading}
          chosen={chosen}
          onChoose={choose}
          onDrop={drop}
          onOpen={(entry) => open({ open: keyOf(entry) })}
        />
      )}
      <p class="visually-hidden" role="status">
        {said}
      </p>
      {opened === 'new' && mayWrite && (
        <BookingPanel
          {...panel}
          draft={`diary/new/${ADDRESS.map((name) => query.get(name) ?? '').join('/')}`}
          span={spanIn(query)}
          adviser={query.get('for') ?? adviser ?? own}
          caseId={query.get('case') ?? ''}
          replaced={replacedCase && replacedId ? { caseId: replacedCase, id: replacedId } : undefined}
        />
      )}
      {openId && (
        <AppointmentPanel
          {...panel}
          key={opened}
          caseId={openCase}
          id={openId}
          moved={mayWrite ? spanIn(query) : undefined}
          onMove={
            shownEntry &&
            (() => {
              close();
              setChosen({ ...shownEntry, adviser: shownEntry.adviser_email, entry: shownEntry, hasKeys: true });
            })
          }
        />
      )}
    </>
  );
}

/** `after`: the appointments as they were shown before the change, in which it is not, or not in its place. */
type FocusOn = { id: string; after: unknown };

function spanIn(query: URLSearchParams): Span | undefined {
  const [start = 0, end = 0] = ['from', 'to'].map((name) => Date.parse(query.get(name) ?? ''));
  const isShown = end > start && [start, end].every((at) => isDay(new Date(at).toISOString().slice(0, 10)));
  return isShown ? { start, end } : undefined;
}

// Days of the calendar are formatted at noon of UTC, whatever the zone is.
const dayTitle = (day: string): string => formatDate(`${day}T12:00:00Z`, 'UTC');

const RANGE = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' });
const formatDays = (first: string, last: string): string =>
  RANGE.formatRange(new Date(`${first}T12:00:00Z`), new Date(`${last}T12:00:00Z`));

function titleOf(days: readonly string[]): string {
  const [first = '', last = ''] = [days[0], days.at(-1)];
  return first === last ? dayTitle(first) : formatDays(first, last);
}

const hoursOf = ({ slots }: Day): number => (slots.filter((slot) => slot !== undefined).length * ROW_MS) / HOUR_MS;

const isOn = (day: Day, { start, end }: Span): boolean => {
  const from = day.slots.find((slot) => slot !== undefined) ?? 0;
  const to = (day.slots.findLast((slot) => slot !== undefined) ?? 0) + ROW_MS;
  return start < to && end > from;
};

const weekColumns = (axis: Axis, entries: readonly Entry[], adviser: string | undefined, today: string): Column[] =>
  axis.days.map((day) => {
    const hours = hoursOf(day);
    return {
      key: day.day,
      title: dayTitle(day.day).replace(/ \d{4}$/, ''),
      href: withQuery({ view: undefined, date: day.day }),
      isToday: day.day === today,
      ...(hours !== 24 && { note: text.hours(hours) }),
      day,
      adviser,
      entries: entries.filter((entry) => isOn(day, entry)),
    };
  });

/** The advisers who can be booked, and those who have an appointment on the day. */
function dayColumns(
  day: Day,
  entries: readonly Entry[],
  adviser: string | undefined,
  advisers: readonly Adviser[],
  isToday: boolean,
): Column[] {
  const emails = adviser ? [adviser] : advisers.filter(({ active }) => active).map(({ email }) => email);
  if (!adviser) {
    for (const { adviser_email } of entries) {
      if (!emails.some((one) => sameAddress(one, adviser_email))) emails.push(adviser_email);
    }
  }
  return emails.map((email) => ({
    key: email.toLowerCase(),
    title: adviserName(email, advisers),
    isToday,
    day,
    adviser: email,
    // The service has chosen those of an adviser, by whatever address they were booked.
    entries: adviser ? entries : entries.filter(({ adviser_email }) => sameAddress(adviser_email, email)),
  }));
}
