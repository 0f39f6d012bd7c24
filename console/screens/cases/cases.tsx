import type { Case } from '@case-records/client';
import { Button } from '../../components/button.tsx';
import { Icon } from '../../components/icon.tsx';
import { Pager } from '../../components/pager.tsx';
import { EmptyState, Loaded } from '../../components/states.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { Badge, DateTime, type Tone } from '../../components/values.tsx';
import { useKeys } from '../../navigation/keys.ts';
import { go, place, to, withQuery } from '../../navigation/place.ts';
import { service } from '../../service/client.ts';
import { ofRecords } from '../../service/following.ts';
import { useEntries } from '../../service/loading.ts';
import { may } from '../../service/session.ts';
import { personName } from '../person-name.ts';
import { NewCasePanel } from './new-case.tsx';
import { text } from './texts.ts';

const PAGE_SIZE = 50;
const TONES: Readonly<Record<string, Tone>> = { open: 'good', closed: 'neutral', archived: 'neutral' };

const COLUMNS: readonly Column<Case>[] = [
  { title: text.reference, cell: ({ id, reference }) => <a href={to(`cases/${id}`)}>{reference}</a> },
  { title: text.clients, cell: ({ customers }) => customers.map(personName).join(', ') || '–' },
  { title: text.kind, cell: ({ kind }) => kind ?? '–' },
  { title: text.state, cell: ({ state }) => <Badge tone={TONES[state] ?? 'neutral'}>{text.states[state]}</Badge> },
  { title: text.opened, cell: ({ opened_at }) => <DateTime at={opened_at} show="date" /> },
];

/** The cases of the company. The filters are in the address, so that a filtered list can be kept and sent. */
export function CasesScreen() {
  const { query } = place.value;
  const search = query.get('search') ?? '';
  const cases = useEntries(
    `cases?search=${search}`,
    (page, signal) => service.listCases({ per_page: PAGE_SIZE, ...(search && { search }), ...page, signal }),
    ofRecords('case', 'customer'),
  );
  const openNew = () => go(withQuery({ open: 'new' }));
  const mayCreate = may('manage');
  useKeys(mayCreate ? [{ keys: 'n', label: text.newCase, run: openNew }] : []);
  return (
    <>
      <header class="screen-header">
        <h1>{text.title}</h1>
        {mayCreate && (
          <Button kind="primary" href={withQuery({ open: 'new' })}>
            <Icon name="plus" /> {text.newCase}
          </Button>
        )}
      </header>
      <search>
        <form
          class="filters"
          onSubmit={(event) => {
            event.preventDefault();
            const data = new FormData(event.currentTarget);
            go(withQuery({ search: String(data.get('search') ?? '').trim() || undefined }));
          }}
        >
          <input
            name="search"
            type="search"
            aria-label={text.search}
            placeholder={text.search}
            defaultValue={search}
            key={search}
          />
          <Button type="submit">{text.filter}</Button>
        </form>
      </search>
      <section class="card" aria-label={text.title}>
        <Loaded of={{ ...cases, data: cases.entries }} lines={8}>
          {(entries) =>
            entries.length > 0 ? (
              <>
                <Table caption={text.title} columns={COLUMNS} rows={entries} keyOf={({ id }) => id} />
                <Pager of={cases} />
              </>
            ) : (
              <EmptyState title={search ? text.noneFound : text.none}>
                {search ? <Button href={to('cases')}>{text.showAll}</Button> : null}
              </EmptyState>
            )
          }
        </Loaded>
      </section>
      {query.get('open') === 'new' && mayCreate && (
        <NewCasePanel onClose={() => go(withQuery({ open: undefined }), { replace: true })} />
      )}
    </>
  );
}
