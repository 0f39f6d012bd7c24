import type { Adviser } from '@case-records/client';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { Icon } from '../../components/icon.tsx';
import { zoneAbbreviation } from '../../components/time.ts';
import { company } from '../../service/session.ts';
import {
  type Axis,
  type Block,
  blocksOf,
  type Day,
  dayAt,
  instantAtRow,
  missingRows,
  ROW_MINUTES,
  ROW_MS,
  rowAt,
} from './axis.ts';
import { afterKey } from './chosen.ts';
import {
  adviserName,
  type Chosen,
  dateText,
  type Entry,
  sameAddress,
  spanText,
  stateOf,
  timeText,
} from './diary-data.ts';
import { text } from './texts.ts';

/** A day, or an adviser on a day. */
export type Column = {
  key: string;
  title: string;
  /** Where the title leads. */
  href?: string;
  isToday: boolean;
  note?: string;
  day: Day;
  /** Undefined: the column has appointments of several advisers. */
  adviser: string | undefined;
  entries: readonly Entry[];
};

type GridProps = {
  axis: Axis;
  columns: readonly Column[];
  advisers: readonly Adviser[];
  now: number;
  /** The days that a page of the diary has. */
  pageDays: number;
  mayWrite: boolean;
  chosen: Chosen | undefined;
  onChoose: (chosen: Chosen | undefined) => void;
  onDrop: (chosen: Chosen) => void;
  onOpen: (entry: Entry) => void;
  isBusy: boolean;
};

const ROWS_PER_HOUR = 60 / ROW_MINUTES;
const FIRST_HOUR = 8;
/** A press that moves less than this is a click. */
const DRAG_PX = 5;
const EDGE_PX = 28;

/** The times of the columns with their appointments. On a narrow screen it is a list for each column. */
export function Grid(props: GridProps) {
  const { axis, columns, advisers, now, mayWrite, chosen, onChoose, onDrop, onOpen } = props;
  const element = useRef<HTMLDivElement>(null);
  const wasDragged = useRef(false);
  const hintId = useId();
  const rows = axis.rows.length;
  const { timeZone } = company.value;
  const firstDay = axis.days[0]?.day;

  useLayoutEffect(() => {
    const times = element.current?.querySelector('.diary-times');
    const hour = axis.rows.findIndex(({ minute }) => minute === FIRST_HOUR * 60);
    if (times) element.current?.scrollTo({ top: (hour / rows) * times.clientHeight });
  }, [firstDay, columns.length === 0]);

  /** The column and the row, with its fraction, at a point of the screen. */
  const pointAt = ({ clientX, clientY }: PointerEvent | MouseEvent) => {
    const areas = [...(element.current?.querySelectorAll('.diary-times') ?? [])].map((one) =>
      one.getBoundingClientRect(),
    );
    const found = areas.findIndex(({ right }) => clientX < right);
    const index = found < 0 ? areas.length - 1 : found;
    const { top = 0, height = 1 } = areas[index] ?? {};
    return { column: columns[index] as Column, row: Math.min(rows, Math.max(0, ((clientY - top) / height) * rows)) };
  };

  const isList = () => element.current?.querySelector('.diary-hours')?.clientHeight === 0;

  /** In a list a place has no time: what ends above it does, or else the morning. */
  const timeInList = ({ clientY }: MouseEvent, { day, entries }: Column) => {
    const above = entries.filter(({ id }) => {
      const line = element.current?.querySelector(`[data-appointment="${CSS.escape(id)}"]`);
      return (line?.getBoundingClientRect().bottom ?? 0) < clientY;
    });
    return Math.max(instantAtRow(FIRST_HOUR * ROWS_PER_HOUR, day), ...above.map(({ end }) => end));
  };

  const bookAt = (event: MouseEvent, column: Column) => {
    if (wasDragged.current || !mayWrite) return;
    const start = isList()
      ? timeInList(event, column)
      : instantAtRow(Math.floor(pointAt(event).row / 2) * 2, column.day);
    onDrop({ start, end: start + ROWS_PER_HOUR * ROW_MS, adviser: column.adviser, hasKeys: false });
  };

  /** Follows the mouse from a press until it is let go. A finger scrolls instead. */
  const drag = (down: PointerEvent, entry?: Entry) => {
    if (down.button !== 0 || down.pointerType === 'touch' || !mayWrite || isList()) return;
    const from = pointAt(down);
    const box = (down.currentTarget as HTMLElement).getBoundingClientRect();
    const isResize = entry !== undefined && down.clientY > box.bottom - 8;
    const grabbed = entry ? from.row - rowAt(entry.start, from.column.day) : 0;
    let current: Chosen | undefined;
    const move = (event: PointerEvent) => {
      if (!current && Math.hypot(event.clientX - down.clientX, event.clientY - down.clientY) < DRAG_PX) return;
      const { column, row } = pointAt(event);
      current = entry
        ? isResize
          ? resized(entry, instantAtRow(Math.round(row), from.column.day))
          : movedTo(entry, instantAtRow(Math.round(row - grabbed), column.day), column.adviser)
        : between(from.row, row, from.column);
      onChoose(current);
      scrollNear(event.clientY);
    };
    const scrollNear = (y: number) => {
      const { top = 0, bottom = 0 } = element.current?.getBoundingClientRect() ?? {};
      if (y < top + EDGE_PX * 3) element.current?.scrollBy(0, -EDGE_PX / 2);
      if (y > bottom - EDGE_PX) element.current?.scrollBy(0, EDGE_PX / 2);
    };
    const end = (drop: Chosen | undefined) => {
      for (const [type, listener] of listeners) removeEventListener(type, listener as EventListener);
      if (!current) return;
      wasDragged.current = true;
      setTimeout(() => {
        wasDragged.current = false;
      });
      onChoose(undefined);
      if (drop) onDrop(drop);
    };
    const listeners = [
      ['pointermove', move],
      ['pointerup', () => end(current)],
      ['pointercancel', () => end(undefined)],
      ['keydown', ({ key }: KeyboardEvent) => key === 'Escape' && end(undefined)],
    ] as const;
    for (const [type, listener] of listeners) addEventListener(type, listener as EventListener);
  };

  const grab = (entry: Entry) => onChoose({ ...entry, adviser: entry.adviser_email, entry, hasKeys: true });

  return (
    <section
      class="diary-grid"
      ref={element}
      aria-label={text.grid}
      aria-busy={props.isBusy}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so keys must reach it.
      tabIndex={0}
      style={{ '--columns': columns.length, '--rows': rows }}
    >
      {mayWrite && (
        <p class="visually-hidden" id={hintId}>
          {text.move}: Space
        </p>
      )}
      <Hours axis={axis} timeZone={timeZone} />
      {columns.map((column, index) => (
        <section
          key={column.key}
          class={`diary-column ${column.isToday ? 'is-today' : ''}`}
          aria-label={column.title}
          style={{ '--column': index }}
        >
          <h2>
            {column.href ? <a href={column.href}>{column.title}</a> : column.title}
            {column.note && <small>{column.note}</small>}
          </h2>
          {/* biome-ignore lint/a11y/useKeyWithClickEvents: the key S chooses a time, and the button above books. */}
          {/* biome-ignore lint/a11y/noStaticElementInteractions: as above. */}
          <div class="diary-times" onClick={(event) => bookAt(event, column)} onPointerDown={(event) => drag(event)}>
            {missingRows(column.day).map(({ top, bottom }) => (
              <Missing key={top} axis={axis} top={top} bottom={bottom} />
            ))}
            {column.isToday && <div class="diary-now" style={{ '--top': rowAt(now, column.day) }} />}
            {column.entries.length === 0 ? (
              <p class="diary-free">{text.free}</p>
            ) : (
              <ol>
                {blocksOf(column.entries, column.day).map((block) => (
                  <Appointment
                    key={block.of.id}
                    block={block}
                    adviser={column.adviser === undefined ? adviserName(block.of.adviser_email, advisers) : undefined}
                    isMoving={chosen?.entry?.id === block.of.id}
                    hintId={mayWrite ? hintId : undefined}
                    onOpen={() => !wasDragged.current && onOpen(block.of)}
                    onGrab={() => mayWrite && grab(block.of)}
                    onPress={(event) => drag(event, block.of)}
                  />
                ))}
              </ol>
            )}
          </div>
        </section>
      ))}
      {chosen && <ChosenTime {...props} chosen={chosen} />}
    </section>
  );
}

function movedTo(entry: Entry, start: number, adviser: string | undefined): Chosen {
  const end = start + (entry.end - entry.start);
  return { start, end, adviser: adviser ?? entry.adviser_email, entry, hasKeys: false };
}

const resized = (entry: Entry, end: number): Chosen => ({
  ...movedTo(entry, entry.start, undefined),
  end: Math.max(end, entry.start + ROW_MS),
});

function between(a: number, b: number, { day, adviser }: Column): Chosen {
  const start = instantAtRow(Math.floor(Math.min(a, b)), day);
  const end = instantAtRow(Math.ceil(Math.max(a, b)), day);
  return { start, end: Math.max(end, start + ROW_MS), adviser, hasKeys: false };
}

function Hours({ axis, timeZone }: { axis: Axis; timeZone: string }) {
  const repeated = new Set(axis.rows.filter(({ isSecond }) => isSecond).map(({ minute }) => minute));
  const clockOf = (row: number, minute: number) => {
    const day = axis.days.find(({ slots }) => axis.rows.some((one, i) => one.isSecond && slots[i] !== undefined));
    const at = repeated.has(minute) ? day?.slots[row] : undefined;
    return `${String(minute / 60).padStart(2, '0')}:00${at === undefined ? '' : ` ${zoneAbbreviation(new Date(at).toISOString(), timeZone)}`}`;
  };
  return (
    <div class="diary-hours" aria-hidden="true">
      {axis.rows.map(
        ({ minute }, row) =>
          minute % 60 === 0 && (
            <span key={row} style={{ '--top': row }}>
              {clockOf(row, minute)}
            </span>
          ),
      )}
    </div>
  );
}

const clock = (minute: number): string =>
  [Math.floor(minute / 60) % 24, minute % 60].map((one) => String(one).padStart(2, '0')).join(':');

/** Rows that the day does not have. */
function Missing({ axis: { rows }, top, bottom }: { axis: Axis; top: number; bottom: number }) {
  const first = rows[top];
  const last = rows[bottom - 1];
  const label =
    first?.isSecond || !last
      ? text.notRepeated
      : text.skipped(clock(first?.minute ?? 0), clock(last.minute + ROW_MINUTES));
  return (
    <p class="diary-missing" style={{ '--top': top, '--span': bottom - top }}>
      <small>{label}</small>
    </p>
  );
}

type AppointmentProps = {
  block: Block<Entry>;
  /** The name of the adviser, if the column does not say it. */
  adviser: string | undefined;
  isMoving: boolean;
  hintId: string | undefined;
  onOpen: () => void;
  onGrab: () => void;
  onPress: (event: PointerEvent) => void;
};

function Appointment({ block, adviser, isMoving, hintId, onOpen, onGrab, onPress }: AppointmentProps) {
  const { of: entry, top, bottom, lane, lanes } = block;
  const state = stateOf(entry);
  const details = [adviser, entry.location, state && text.states[state]].filter(Boolean);
  return (
    <li style={{ '--top': top, '--span': bottom - top, '--lane': lane, '--lanes': lanes }}>
      <button
        type="button"
        class={`appointment ${state ?? ''} ${isMoving ? 'is-moving' : ''} ${bottom - top < 3 ? 'is-short' : ''}`}
        data-appointment={entry.id}
        aria-describedby={hintId}
        onClick={(event) => {
          event.stopPropagation();
          onOpen();
        }}
        onPointerDown={(event) => {
          event.stopPropagation();
          onPress(event);
        }}
        onKeyDown={(event) => {
          if (event.key !== ' ') return;
          event.preventDefault();
          onGrab();
        }}
      >
        <span class="diary-lines">
          <span class="diary-when">
            {timeText(entry.start)}
            <span class="diary-end">–{timeText(entry.end)}</span>
            {entry.join_url && <Icon name="video_conference" />}
            {entry.join_url && <span class="visually-hidden">{text.states.video}</span>}
          </span>{' '}
          <strong>{text.ofCase(entry.case.reference)}</strong>
          {details.length > 0 && <small> {details.join(' · ')}</small>}
        </span>
      </button>
    </li>
  );
}

/** The time that is being chosen. It stays the same element while it moves, so that it keeps the focus. */
function ChosenTime({ axis, columns, advisers, pageDays, chosen, onChoose, onDrop }: GridProps & { chosen: Chosen }) {
  const element = useRef<HTMLDivElement>(null);
  const helpId = useId();
  const { timeZone } = company.value;
  const { start, end, adviser, entry, hasKeys } = chosen;
  const index = columns.findIndex(
    (one) =>
      one.day.day === dayAt(start, timeZone) && (one.adviser === undefined || sameAddress(one.adviser, adviser ?? '')),
  );
  const column = columns[index];
  const others =
    column?.entries.filter(
      (one) =>
        one.id !== entry?.id &&
        one.cancelled === 0 &&
        one.start < end &&
        one.end > start &&
        (adviser === undefined || sameAddress(one.adviser_email, adviser)),
    ).length ?? 0;
  const label = text.choosing(spanText(chosen), adviser ? adviserName(adviser, advisers) : '', others);
  const top = column ? rowAt(start, column.day) : 0;
  const bottom = column ? Math.max(top + 1, rowAt(end, column.day, { isEnd: true })) : 0;

  // Before the next key arrives, which is meant for it.
  useLayoutEffect(() => {
    if (!hasKeys) return;
    element.current?.focus({ preventScroll: true });
    element.current?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [hasKeys, start, end, index]);

  const columnAdvisers = columns.flatMap((one) => one.adviser ?? []);
  const byAdviser = axis.days.length === 1 && columnAdvisers.length > 1 ? columnAdvisers : undefined;
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const after = afterKey(chosen, event, { advisers: byAdviser, pageDays, timeZone });
    if (after) onChoose(after);
    else if (event.key === 'Enter' || event.key === ' ') onDrop(chosen);
    else if (event.key === 'Escape') onChoose(undefined);
    else return;
    event.preventDefault();
  };
  return (
    <>
      <div
        ref={element}
        class={`diary-chosen ${column ? '' : 'is-outside'}`}
        role="application"
        aria-roledescription={entry ? text.movedRole : text.chosenRole}
        aria-label={label}
        aria-describedby={helpId}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it is operated by keys.
        tabIndex={0}
        style={{ '--column': index, '--top': top, '--span': bottom - top }}
        onKeyDown={onKeyDown}
      >
        <small>{dateText(start)}</small>
        <strong>
          {timeText(start)}–{timeText(end)}
        </strong>
        {entry && <span>{text.ofCase(entry.case.reference)}</span>}
      </div>
      <p class="visually-hidden" id={helpId}>
        {entry ? text.moveHelp : text.chooseHelp}
      </p>
      <p class="visually-hidden" aria-live="assertive">
        {hasKeys ? label : ''}
      </p>
    </>
  );
}
