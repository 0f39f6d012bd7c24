import type { CompanyMessage } from '@case-records/client';
import { Button } from '../../components/button.tsx';
import { PageLinks } from '../../components/page-links.tsx';
import { EmptyState, Loaded } from '../../components/states.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { DateTime } from '../../components/values.tsx';
import { go, place, to, withQuery } from '../../navigation/place.ts';
import { useRowKeys } from '../../navigation/row-keys.ts';
import { ofRecords } from '../../service/following.ts';
import { useLoaded } from '../../service/loading.ts';
import { may } from '../../service/session.ts';
import { texts } from '../../texts.ts';
import { MessagePanel } from './message-panel.tsx';
import { MessageState } from './message-state.tsx';
import { text } from './texts.ts';

const PAGE_SIZE = 50;
const FILTERS = ['failed', 'scheduled', 'sent', 'skipped', 'cancelled', 'all'] as const;
const DEFAULT_FILTER = 'failed';
/** Other parts of the address belong to the list that is left. */
const FIRST_PAGE = { page: undefined, open: undefined };

/** The confirmations, reminders and cancellations of all cases, those that have failed first. */
export function MessagesScreen() {
  const { query } = place.value;
  const shown = FILTERS.find((name) => name === query.get('state')) ?? DEFAULT_FILTER;
  const page = Math.max(Number.parseInt(query.get('page') ?? '1', 10) || 1, 1);
  const list = useLoaded(
    `messages?${shown}&${page}`,
    async (signal, service) => {
      const state = shown === 'all' ? {} : { state: shown };
      const { data, total = 0 } = await service.listMessages({ ...state, page, per_page: PAGE_SIZE, signal });
      return { messages: data, total };
    },
    ofRecords('message', 'appointment'),
  );
  useRowKeys();
  const toPage = (number: number) => withQuery({ ...FIRST_PAGE, page: number > 1 ? String(number) : undefined });
  return (
    <>
      <header class="screen-header">
        <h1>{text.title}</h1>
      </header>
      <nav class="chips ledger-filters" aria-label={text.states}>
        {FILTERS.map((name) => (
          <a
            key={name}
            href={withQuery({ ...FIRST_PAGE, state: name === DEFAULT_FILTER ? undefined : name })}
            aria-current={name === shown ? 'true' : undefined}
          >
            {text.filters[name]}
          </a>
        ))}
      </nav>
      <section class="card ledger" aria-label={text.title}>
        <Loaded of={list} lines={8}>
          {({ messages, total }) =>
            messages.length > 0 ? (
              <>
                <Table caption={text.title} columns={columns()} rows={messages} keyOf={({ id }) => id} />
                <PageLinks
                  range={texts.pages.range((page - 1) * PAGE_SIZE + 1, (page - 1) * PAGE_SIZE + messages.length, total)}
                  first={page > 2 ? toPage(1) : undefined}
                  previous={page > 1 ? toPage(page - 1) : undefined}
                  next={page * PAGE_SIZE < total ? toPage(page + 1) : undefined}
                />
              </>
            ) : (
              <EmptyState title={shown === 'failed' ? text.none.failed : text.none.other}>
                {shown !== 'all' && <Button href={to('messages', { state: 'all' })}>{text.showAll}</Button>}
                {page > 1 && <Button href={toPage(1)}>{texts.pages.first}</Button>}
              </EmptyState>
            )
          }
        </Loaded>
      </section>
      <OpenPanel messages={list.data?.messages ?? []} />
    </>
  );
}

/** `open` in the address: the case, the appointment and the message. */
function OpenPanel({ messages }: { messages: readonly CompanyMessage[] }) {
  const [caseId, appointmentId, id] = place.value.query.get('open')?.split('/') ?? [];
  if (!caseId || !appointmentId || !id) return null;
  const onClose = () => go(withQuery({ open: undefined }), { replace: true });
  const listed = messages.find((message) => message.id === id);
  return (
    <MessagePanel
      key={id}
      caseId={caseId}
      appointmentId={appointmentId}
      messageId={id}
      listed={listed}
      onClose={onClose}
    />
  );
}

const panelAddress = ({ id, appointment_id, case: { id: caseId } }: CompanyMessage): string =>
  withQuery({ open: `${caseId}/${appointment_id}/${id}` });

function columns(): Column<CompanyMessage>[] {
  const all: Column<CompanyMessage>[] = [
    {
      title: text.message,
      cell: (message) => (
        <div>
          <a data-row href={panelAddress(message)}>
            {text.what[message.channel][message.kind]}
          </a>
          {message.sent_to && <small>{message.sent_to}</small>}
        </div>
      ),
    },
    {
      title: text.of,
      cell: ({ case: { id, reference }, appointment_id, start }) => (
        <div>
          <a class="of-case" href={to(`cases/${id}`)}>
            {reference}
          </a>
          <a class="of-case" href={to(`cases/${id}`, { open: `appointment/${appointment_id}` })}>
            <small>
              <DateTime at={start} />
            </small>
          </a>
        </div>
      ),
    },
    {
      title: texts.fields.state,
      cell: (message) => (
        <div>
          <MessageState of={message} />
          <small>
            {message.sent_at ? text.sent : text.due} <DateTime at={message.sent_at ?? message.due_at} />
          </small>
        </div>
      ),
    },
    {
      title: text.attempts,
      cell: ({ attempts, last_error }) => (
        <div>
          {attempts}
          {last_error && <span class="last-error">{last_error}</span>}
        </div>
      ),
    },
  ];
  if (may('appointments:write')) {
    all.push({
      title: text.next,
      cell: (message) =>
        message.state === 'failed' && message.kind !== 'cancellation' ? (
          <a class="row-action" href={panelAddress(message)}>
            {text.resend}
          </a>
        ) : (
          '–'
        ),
    });
  }
  return all;
}
