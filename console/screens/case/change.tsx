import type { ListEventsEntry } from '@case-records/client';
import { Panel } from '../../components/dialog.tsx';
import { EmptyState, Loaded } from '../../components/states.tsx';
import { DateTime } from '../../components/values.tsx';
import { service } from '../../service/client.ts';
import { useLoaded } from '../../service/loading.ts';
import { fieldLabel, texts } from '../../texts.ts';
import type { PanelProps } from './case-panel.tsx';
import { actorName, changeName } from './change-names.ts';
import { text } from './texts.ts';

const PAGE_LIMIT = 200;
/** A record with more changes than these pages hold shows no details of the others. */
const MAX_PAGES = 10;

type Event = ListEventsEntry;

/** The history of a record of each kind. Cases and customers have theirs under `manage`. */
const HISTORIES: Readonly<
  Record<string, (caseId: string, id: string, page: object) => Promise<{ data: unknown; next?: unknown }>>
> = {
  interaction: (caseId, interactionId, page) => service.listInteractionHistory({ caseId, interactionId, ...page }),
  invoice: (caseId, invoiceId, page) => service.listInvoiceHistory({ caseId, invoiceId, ...page }),
  appointment: (caseId, appointmentID, page) => service.listAppointmentHistory({ caseId, appointmentID, ...page }),
  address_book_entry: (caseId, entryID, page) => service.listAddressBookEntryHistory({ caseId, entryID, ...page }),
};

async function findEvent(caseId: string, record: string, id: string, event: string): Promise<Event | null> {
  const history = HISTORIES[record];
  if (!history) return null;
  let next: object | undefined = {};
  for (let page = 0; next && page < MAX_PAGES; page++) {
    const answer = await history(caseId, id, { limit: PAGE_LIMIT, ...next });
    const events = answer.data as Event[];
    const found = events.find((one) => one.id === event);
    if (found || events.length < PAGE_LIMIT) return found ?? null;
    next = answer.next as object | undefined;
  }
  return null;
}

/** One change: who made it, and every field before and after. */
export function ChangePanel({
  overview: { id: caseId },
  onClose,
  record,
  id,
  event,
}: PanelProps & { record: string; id: string; event: string }) {
  const found = useLoaded(`change/${event}`, () => findEvent(caseId, record, id, event));
  return (
    <Panel title={text.changeTitle} onClose={onClose}>
      <Loaded of={found}>
        {(change) => (change ? <Details change={change} /> : <EmptyState title={text.noDetails} />)}
      </Loaded>
    </Panel>
  );
}

function Details({ change: { type, at, actor, changed, before, after } }: { change: Event }) {
  const names = changed ?? Object.keys(after ?? before ?? {});
  const shownNames = names.filter((name) => name !== 'updated_at');
  return (
    <div>
      <p>
        <strong>{text.changedBy(changeName(type), actorName(actor))}</strong>
        <br />
        <small>
          <DateTime at={at} />
        </small>
      </p>
      <dl class="differences">
        {shownNames.map((name) => (
          <div key={name}>
            <dt>{fieldLabel(name)}</dt>
            {before && (
              <dd class="before">
                <small>{text.before}</small> {shown(before, name)}
              </dd>
            )}
            {after && (
              <dd>
                <small>{text.after}</small> {shown(after, name)}
              </dd>
            )}
          </div>
        ))}
      </dl>
    </div>
  );
}

function shown(image: object, name: string): string {
  const value = (image as Readonly<Record<string, unknown>>)[name];
  if (value === null || value === undefined || value === '') return texts.conflict.empty;
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
