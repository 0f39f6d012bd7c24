import type { Case } from '@case-records/client';
import { Button } from '../../components/button.tsx';
import type { Option } from '../../components/form.tsx';
import { Icon } from '../../components/icon.tsx';
import { Pager } from '../../components/pager.tsx';
import { EmptyState, Loaded } from '../../components/states.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { Badge, DateTime, type Tone } from '../../components/values.tsx';
import { useKeys } from '../../navigation/keys.ts';
import { go, place, to, withQuery } from '../../navigation/place.ts';
import { useAdvisers, useCaseKinds } from '../../service/company-data.ts';
import { ofRecords } from '../../service/following.ts';
import { useEntries } from '../../service/loading.ts';
import { may } from '../../service/session.ts';
import { fieldLabel } from '../../texts.ts';
import { personName } from '../person-name.ts';
import { NewCasePanel } from './new-case.tsx';
import { text } from './texts.ts';

const PAGE_SIZE = 50;
const MAX_PAGE_SIZE = 200;
const FILTERS = ['state', 'kind_id', 'responsible_adviser_id'] as const;
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
  const filters = Object.fromEntries(FILTERS.flatMap((name) => (query.get(name) ? [[name, query.get(name)]] : [])));
  const isSifted = Object.keys(filters).length > 0;
  const isFiltered = search !== '' || isSifted;
  const kinds = useCaseKinds();
  const advisers = useAdvisers();
  const cases = useEntries(
    `cases?${JSON.stringify({ search, ...filters })}`,
    async (page, signal, service) => {
      if (!search) return service.findCases({ limit: PAGE_SIZE, ...filters, ...page, signal });
      // A search takes the words of customers too, and no other filter.
      const found = await service.listCases({
        per_page: isSifted ? MAX_PAGE_SIZE : PAGE_SIZE,
        search,
        ...page,
        signal,
      });
      return {
        ...found,
        data: found.data.filter((one) => FILTERS.every((name) => (filters[name] ?? one[name]) === one[name])),
      };
    },
    ofRecords('case', 'customer'),
  );
  const openNew = () => go(withQuery({ open: 'new' }));
  const mayCreate = may('cases:write', 'manage');
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
            const words = String(data.get('search') ?? '').trim();
            go(withQuery({ search: words || undefined }));
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
          <Button type="submit">{text.find}</Button>
          <Filter name="state" options={STATE_OPTIONS} />
          <Filter name="kind_id" options={kinds.map(({ id, name }) => ({ value: id, label: name }))} />
          <Filter
            name="responsible_adviser_id"
            options={advisers.map(({ id, name }) => ({ value: id, label: name }))}
          />
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
              <EmptyState title={isFiltered ? text.noneFound : text.none}>
                {isFiltered ? <Button href={to('cases')}>{text.showAll}</Button> : null}
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

const STATE_OPTIONS = Object.entries(text.states).map(([value, label]) => ({ value, label }));

/** A filter that takes effect when it is chosen. */
function Filter({ name, options }: { name: (typeof FILTERS)[number]; options: readonly Option[] }) {
  if (options.length === 0) return null;
  return (
    <select
      aria-label={fieldLabel(name)}
      value={place.value.query.get(name) ?? ''}
      onChange={(event) => go(withQuery({ [name]: event.currentTarget.value || undefined }))}
    >
      <option value="">{text.any(fieldLabel(name))}</option>
      {options.map(({ value, label }) => (
        <option key={value} value={value}>
          {label}
        </option>
      ))}
    </select>
  );
}
