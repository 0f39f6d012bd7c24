import type { SearchHit } from '@case-records/client';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { Button } from '../../components/button.tsx';
import { Icon } from '../../components/icon.tsx';
import { Pager } from '../../components/pager.tsx';
import { EmptyState, Loaded } from '../../components/states.tsx';
import { DateTime } from '../../components/values.tsx';
import { HIT_ICONS, hitAddress, MAX_QUERY_LENGTH } from '../../navigation/palette.tsx';
import { go, place, to, withQuery } from '../../navigation/place.ts';
import { useRowKeys } from '../../navigation/row-keys.ts';
import { useEntries } from '../../service/loading.ts';
import { may, type Scope } from '../../service/session.ts';
import { fieldLabel } from '../../texts.ts';
import { text } from './texts.ts';

const PAGE_HITS = 50;

/** What can be found, and the scopes of which a role needs one. */
const KINDS: Readonly<Record<SearchHit['kind'], readonly Scope[]>> = {
  case: ['cases:read', 'manage'],
  customer: ['cases:read', 'manage'],
  entry: ['address_book:read'],
  interaction: ['interactions:read'],
  invoice: ['invoices:read'],
  appointment: ['appointments:read'],
};

/** All results of a search. The palette leads here. */
export function SearchScreen() {
  const { query } = place.value;
  const q = query.get('q')?.trim().slice(0, MAX_QUERY_LENGTH) ?? '';
  const kinds = (Object.keys(KINDS) as SearchHit['kind'][]).filter((kind) => may(...KINDS[kind]));
  const chosen = kinds.filter((kind) => query.get('kinds')?.split(',').includes(kind));
  const isComplete = useRef(true);
  const found = useEntries<SearchHit>(q === '' ? undefined : `search?${chosen}&${q}`, async (page, signal, service) => {
    const narrowed = chosen.length > 0 ? { kinds: chosen.join() } : {};
    const answer = await service.search({ q, ...narrowed, limit: PAGE_HITS, ...page, signal });
    isComplete.current = answer.data.complete;
    return { ...answer, data: answer.data.hits };
  });
  useRowKeys();
  const input = useRef<HTMLInputElement>(null);
  // Before the next key arrives: a letter beside the field is a command.
  useLayoutEffect(() => {
    if (q === '') input.current?.focus();
  }, [q]);
  /** Adds a kind to those that are chosen, or takes it away. */
  const withKind = (kind: SearchHit['kind']) => {
    const next = chosen.includes(kind) ? chosen.filter((one) => one !== kind) : [...chosen, kind];
    return withQuery({ kinds: next.join() || undefined });
  };
  return (
    <>
      <header class="screen-header">
        <h1>{text.title}</h1>
      </header>
      <search class="ledger-filters">
        <form
          class="filters"
          onSubmit={(event) => {
            event.preventDefault();
            go(withQuery({ q: input.current?.value.trim() || undefined }));
          }}
        >
          <input
            ref={input}
            name="q"
            type="search"
            aria-label={text.label}
            placeholder={text.label}
            maxLength={MAX_QUERY_LENGTH}
            defaultValue={q}
            key={q}
          />
          <Button type="submit" kind="primary">
            {text.search}
          </Button>
        </form>
        <nav class="chips" aria-label={text.kinds}>
          <a href={withQuery({ kinds: undefined })} aria-current={chosen.length === 0 ? 'true' : undefined}>
            {text.all}
          </a>
          {kinds.map((kind) => (
            <a key={kind} href={withKind(kind)} aria-current={chosen.includes(kind) ? 'true' : undefined}>
              {text.kind[kind]}
            </a>
          ))}
        </nav>
      </search>
      {q === '' ? (
        <EmptyState title={text.begin} />
      ) : (
        <section class="card" aria-label={text.results}>
          <Loaded of={{ ...found, data: found.entries }} lines={8}>
            {(hits) => (
              <>
                <p class="ledger-note" role="status">
                  {text.count(hits.length, found.hasMore)}
                  {!isComplete.current && <span class="incomplete">{text.incomplete}</span>}
                </p>
                {hits.length > 0 ? (
                  <ol class="ledger-hits">
                    {hits.map((hit) => (
                      <HitLine key={`${hit.kind}-${hit.id}`} hit={hit} />
                    ))}
                  </ol>
                ) : (
                  <EmptyState title={text.none}>
                    <small>{text.noneHint}</small>
                    {chosen.length > 0 && <Button href={withQuery({ kinds: undefined })}>{text.everyKind}</Button>}
                  </EmptyState>
                )}
                {found.hasMore && <Pager of={found} />}
              </>
            )}
          </Loaded>
        </section>
      )}
    </>
  );
}

/** What matches is marked. Every piece is text, so that nothing in a record can look like a mark. */
const Pieces = ({ of }: { of: SearchHit['fragment']['pieces'] }) => (
  <>{of.map(({ text: piece, match }, i) => (match ? <mark key={i}>{piece}</mark> : piece))}</>
);

function HitLine({ hit }: { hit: SearchHit }) {
  const { kind, title, fragment, at, case: found } = hit;
  const known =
    kind !== 'interaction' && kind !== 'appointment'
      ? undefined
      : (text.titles as Readonly<Record<string, string>>)[title];
  const isTitle = fragment.pieces.map(({ text: piece }) => piece).join('') === title;
  return (
    <li>
      <Icon name={HIT_ICONS[kind] ?? kind} />
      <div>
        <h2>
          <a data-row href={hitAddress(hit)}>
            {isTitle && !known ? <Pieces of={fragment.pieces} /> : (known ?? title)}
          </a>
        </h2>
        {!isTitle && (
          <p class="fragment">
            <small>{fieldLabel(fragment.field)}:</small> <Pieces of={fragment.pieces} />
          </p>
        )}
        <small class="origin">
          <span>{text.one[kind]}</span>
          <DateTime at={at} show="date" />
          {kind !== 'case' && found.reference !== null && <a href={to(`cases/${found.id}`)}>{found.reference}</a>}
        </small>
      </div>
    </li>
  );
}
