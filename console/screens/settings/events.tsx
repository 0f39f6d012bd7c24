import type { AuditEvent } from '@case-records/client';
import { Panel } from '../../components/dialog.tsx';
import { Pager } from '../../components/pager.tsx';
import { EmptyState, Loaded } from '../../components/states.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { DateTime } from '../../components/values.tsx';
import { go, place, to, withQuery } from '../../navigation/place.ts';
import { useEntries, useLoaded } from '../../service/loading.ts';
import { fieldLabel, texts } from '../../texts.ts';
import { actorName, changeName } from '../case/change-names.ts';
import { text } from './texts.ts';

const PAGE_SIZE = 50;

const RECORDS = Object.entries(text.events.records);

const COLUMNS: readonly Column<AuditEvent>[] = [
  { title: text.events.what, cell: ({ id, type }) => <a href={withQuery({ open: id })}>{changeName(type)}</a> },
  { title: text.events.who, cell: ({ actor }) => actorName(actor) },
  { title: text.events.changed, cell: ({ changed }) => shownFields(changed).map(fieldLabel).join(', ') || '–' },
  { title: text.events.when, cell: ({ at }) => <DateTime at={at} /> },
];

const shownFields = (names: readonly string[] | null) => (names ?? []).filter((name) => name !== 'updated_at');

/** Every change of every record of the company, newest first. */
export function EventLog() {
  const { query } = place.value;
  const record = query.get('record') ?? '';
  const types = record && { types: `${record}.*` };
  const events = useEntries(
    `settings/events?record=${record}`,
    (page, signal, service) => service.listEvents({ limit: PAGE_SIZE, order: 'newest', ...types, ...page, signal }),
    (change) => !record || change.record === record,
  );
  const open = query.get('open');
  return (
    <>
      <h1>{text.pages.events}</h1>
      <section class="card" aria-label={text.pages.events}>
        <header class="filters">
          <select
            aria-label={text.events.filter}
            value={record}
            onChange={(event) => go(withQuery({ record: event.currentTarget.value || undefined }))}
          >
            <option value="">{text.events.all}</option>
            {RECORDS.map(([value, label]) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </select>
        </header>
        <Loaded of={{ ...events, data: events.entries }} lines={10}>
          {(entries) =>
            entries.length > 0 ? (
              <>
                <Table caption={text.pages.events} columns={COLUMNS} rows={entries} keyOf={({ id }) => id} />
                <Pager of={events} />
              </>
            ) : (
              <EmptyState title={text.events.none} />
            )
          }
        </Loaded>
      </section>
      {open && <EventPanel key={open} eventId={open} onClose={close} />}
    </>
  );
}

const close = () => go(withQuery({ open: undefined }), { replace: true });

/** One change: who made it, and every field before and after. */
export function EventPanel({ eventId, onClose }: { eventId: string; onClose: () => void }) {
  const found = useLoaded(
    `settings/event/${eventId}`,
    async (signal, service) => (await service.getEvent({ eventId, signal })).data as AuditEvent,
  );
  return (
    <Panel title={text.events.change} onClose={onClose}>
      <Loaded of={found}>{(event) => <Details event={event} />}</Loaded>
    </Panel>
  );
}

type Image = Readonly<Record<string, unknown>>;

function Details({ event: { type, at, actor, request_id, case_id, changed, before, after } }: { event: AuditEvent }) {
  const names = shownFields(changed ?? Object.keys(after ?? before ?? {}));
  const images = [
    ...(before ? [[text.events.before, before as Image] as const] : []),
    ...(after ? [[text.events.after, after as Image] as const] : []),
  ];
  return (
    <div class="stack">
      <p>
        <strong>{changeName(type)}</strong>
        <br />
        {actorName(actor)}, <DateTime at={at} />
        {case_id && (
          <>
            <br />
            <a href={to(`cases/${case_id}`)}>{text.events.openCase}</a>
          </>
        )}
      </p>
      <table class="changes">
        <caption class="visually-hidden">{text.events.changed}</caption>
        <thead>
          <tr>
            <th scope="col">{text.events.field}</th>
            {images.map(([title]) => (
              <th key={title} scope="col">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {names.map((name) => (
            <tr key={name}>
              <th scope="row">{fieldLabel(name)}</th>
              {images.map(([title, image]) => (
                <td key={title} data-label={title}>
                  <Value value={image[name]} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {request_id && (
        <p class="quiet">
          {text.events.request} <code>{request_id}</code>
        </p>
      )}
    </div>
  );
}

const INSTANT = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

/** A value of a record in words: also lists, and records in records. */
function Value({ value }: { value: unknown }) {
  if (value === null || value === undefined || value === '') return <span class="quiet">{texts.conflict.empty}</span>;
  if (typeof value === 'boolean') return <>{value ? texts.yes : texts.no}</>;
  if (typeof value === 'string' && INSTANT.test(value)) return <DateTime at={value} />;
  if (typeof value !== 'object') return <span class="notes">{String(value)}</span>;
  const entries = Object.entries(value);
  if (entries.length === 0) return <span class="quiet">{texts.conflict.empty}</span>;
  return (
    <ul class={Array.isArray(value) ? 'bullets' : undefined}>
      {entries.map(([name, part]) => (
        <li key={name}>
          {!Array.isArray(value) && `${fieldLabel(name)}: `}
          <Value value={part} />
        </li>
      ))}
    </ul>
  );
}
