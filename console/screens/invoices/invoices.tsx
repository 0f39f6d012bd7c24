import type { CompanyInvoice } from '@case-records/client';
import { Button } from '../../components/button.tsx';
import { PageLinks } from '../../components/page-links.tsx';
import { EmptyState, Loaded } from '../../components/states.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { Badge, DateTime, Money } from '../../components/values.tsx';
import { go, place, to, withQuery } from '../../navigation/place.ts';
import { useRowKeys } from '../../navigation/row-keys.ts';
import { ofRecords } from '../../service/following.ts';
import { useLoaded } from '../../service/loading.ts';
import { may } from '../../service/session.ts';
import { DueDate } from './due-date.tsx';
import { csvAddress, DEFAULT_FILTER, emptyText, FILTER_NAMES, readFilters } from './filters.ts';
import { InvoicePanel } from './invoice-panel.tsx';
import { canBePaid, statusTone } from './status.ts';
import { text } from './texts.ts';

const PAGE_SIZE = 50;
/** The service answers with an empty page after it has looked at 1,000 invoices that the filters exclude. */
const MAX_EMPTY_PAGES = 20;
/** Other parts of the address belong to the list that is left. */
const FIRST_PAGE = { cursor: undefined, open: undefined, pay: undefined };

/** The invoices of the company, what is owed first. */
export function InvoicesScreen() {
  const { query } = place.value;
  const { shown, from, to: until, due, request } = readFilters();
  const cursor = query.get('cursor') ?? '';
  const list = useLoaded(
    `invoices?${JSON.stringify(request)}&${cursor}`,
    async (signal, service) => {
      let next: Record<string, string> | undefined = cursor ? { cursor } : {};
      let invoices: CompanyInvoice[] = [];
      for (let page = 0; next && invoices.length === 0 && page < MAX_EMPTY_PAGES; page++) {
        const answer: Awaited<ReturnType<typeof service.listInvoices>> = await service.listInvoices({
          ...request,
          limit: PAGE_SIZE,
          ...(next.cursor && { cursor: next.cursor }),
          signal,
        });
        invoices = answer.data;
        next = answer.next;
      }
      return { invoices, next: next?.cursor };
    },
    ofRecords('invoice', 'payment'),
  );
  useRowKeys();
  return (
    <>
      <header class="screen-header">
        <h1>{text.title}</h1>
        <a class="button plain" href={csvAddress(request)} download="invoices.csv">
          {text.csv}
        </a>
      </header>
      <Sums due={due} />
      <search class="ledger-filters">
        <nav class="chips" aria-label={text.states}>
          {FILTER_NAMES.map((name) => (
            <a
              key={name}
              href={withQuery({ ...FIRST_PAGE, show: name === DEFAULT_FILTER ? undefined : name })}
              aria-current={name === shown ? 'true' : undefined}
            >
              {text.filters[name]}
            </a>
          ))}
        </nav>
        <DueRange key={`${from} ${until}`} from={from} until={until} />
      </search>
      <section class="card ledger" aria-label={text.title}>
        <Loaded of={list} lines={8}>
          {({ invoices, next }) =>
            invoices.length > 0 ? (
              <>
                <Table caption={text.title} columns={columns()} rows={invoices} keyOf={({ id }) => id} />
                <PageLinks
                  first={cursor ? withQuery(FIRST_PAGE) : undefined}
                  next={next && withQuery({ ...FIRST_PAGE, cursor: next })}
                />
              </>
            ) : (
              <EmptyState title={emptyText(shown, cursor !== '' || from !== undefined || until !== undefined)}>
                {shown === 'all' && !from && !until && !cursor ? (
                  <small>{text.newFromCase}</small>
                ) : (
                  <Button href={to('invoices', { show: 'all' })}>{text.showAll}</Button>
                )}
              </EmptyState>
            )
          }
        </Loaded>
      </section>
      <OpenPanel />
    </>
  );
}

/** `open` in the address: the case and the invoice. */
function OpenPanel() {
  const [caseId, invoiceId] = place.value.query.get('open')?.split('/') ?? [];
  if (!caseId || !invoiceId) return null;
  const onClose = () => go(withQuery({ open: undefined, pay: undefined }), { replace: true });
  return <InvoicePanel key={invoiceId} caseId={caseId} invoiceId={invoiceId} onClose={onClose} />;
}

/** What is owed to the company, of the invoices in the range of due dates. Each sum leads to its invoices. */
function Sums({ due }: { due: { due_from?: string; due_to?: string } }) {
  const { data: sums, error } = useLoaded(
    `invoices/sums?${JSON.stringify(due)}`,
    async (signal, service) => (await service.sumInvoices({ ...due, signal })).data,
    ofRecords('invoice', 'payment'),
  );
  return (
    <ul class="ledger-sums" aria-label={text.sums}>
      {(['overdue', 'open'] as const).map((name) => (
        <li key={name} class={name === 'overdue' && sums && sums.overdue.count > 0 ? 'bad' : undefined}>
          <a href={withQuery({ ...FIRST_PAGE, show: name === DEFAULT_FILTER ? undefined : name })}>
            <span>{text.filters[name]}</span>
            <strong>{sums ? <Money amount={sums[name].outstanding} /> : error ? '–' : '…'}</strong>
            <small>{sums ? text.count(sums[name].count) : ' '}</small>
          </a>
        </li>
      ))}
    </ul>
  );
}

function DueRange({ from, until }: { from: string | undefined; until: string | undefined }) {
  return (
    <form
      class="filters"
      onSubmit={(event) => {
        event.preventDefault();
        const data = new FormData(event.currentTarget);
        const day = (name: string) => String(data.get(name) ?? '') || undefined;
        go(withQuery({ ...FIRST_PAGE, from: day('from'), to: day('to') }));
      }}
    >
      <label>
        {text.dueFrom} <input type="date" name="from" defaultValue={from ?? ''} />
      </label>
      <label>
        {text.dueTo} <input type="date" name="to" defaultValue={until ?? ''} />
      </label>
      <Button type="submit">{text.filter}</Button>
      {(from || until) && (
        <Button kind="quiet" href={withQuery({ ...FIRST_PAGE, from: undefined, to: undefined })}>
          {text.anyDate}
        </Button>
      )}
    </form>
  );
}

const panelAddress = ({ id, case: { id: caseId } }: CompanyInvoice, pay?: '1'): string =>
  withQuery({ open: `${caseId}/${id}`, pay });

function columns(): Column<CompanyInvoice>[] {
  const all: Column<CompanyInvoice>[] = [
    {
      title: text.number,
      cell: (invoice) => (
        <a data-row href={panelAddress(invoice)}>
          {invoice.invoice_number}
        </a>
      ),
    },
    {
      title: text.recipient,
      cell: ({ recipients_name, case: { id, reference } }) => (
        <div class="recipient">
          {recipients_name && <div>{recipients_name}</div>}
          <a class="of-case" href={to(`cases/${id}`)}>
            {reference}
          </a>
        </div>
      ),
    },
    { title: text.due, cell: (invoice) => <DueDate of={invoice} /> },
    {
      title: text.status,
      cell: ({ status, date_due, date_sent }) => (
        <div>
          <Badge tone={statusTone(status, date_due)}>{text.statuses[status]}</Badge>
          <small>
            {date_sent ? (
              <>
                {text.sentOn} <DateTime at={date_sent} show="date" />
              </>
            ) : (
              status !== 'Cancelled' && text.notSent
            )}
          </small>
        </div>
      ),
    },
    {
      title: text.outstanding,
      isNumber: true,
      cell: ({ outstanding, total }) => (
        <div>
          <Money amount={outstanding} />
          {outstanding !== total && (
            <small>
              {text.of} <Money amount={total} />
            </small>
          )}
        </div>
      ),
    },
  ];
  if (may('invoices:write')) {
    all.push({
      title: text.next,
      cell: (invoice) =>
        canBePaid(invoice.status) ? (
          <a class="row-action" href={panelAddress(invoice, '1')}>
            {text.pay}
            <span class="visually-hidden"> {invoice.invoice_number}</span>
          </a>
        ) : (
          '–'
        ),
    });
  }
  return all;
}
