import type { SearchHit } from '@case-records/client';
import { useEffect, useId, useState } from 'preact/hooks';
import { Dialog } from '../components/dialog.tsx';
import { Icon } from '../components/icon.tsx';
import { service } from '../service/client.ts';
import { texts } from '../texts.ts';
import { bindings } from './keys.ts';
import { go, to } from './place.ts';

const DEBOUNCE_MS = 120;
const MAX_PAGES = 5;
const MAX_HITS = 12;
export const MAX_QUERY_LENGTH = 200;

/** The keys that open the palette are no commands in it. */
const OWN_KEYS = ['/', 'ctrl+k'];

type Row = { id: string; icon: string; run: () => void; hit?: SearchHit; label: string };

/** Where a hit leads: to its case, with the record opened. */
export const hitAddress = ({ kind, id, case: { id: caseId } }: SearchHit): string =>
  to(`cases/${caseId}`, kind === 'case' || kind === 'customer' ? {} : { open: `${kind}/${id}` });

export const HIT_ICONS: Readonly<Record<string, string>> = {
  customer: 'person',
  entry: 'person',
  interaction: 'message',
};

/** Finds records and commands. The input keeps the focus, and the arrow keys move through the list. */
export function Palette({ onClose }: { onClose: () => void }) {
  const [query, setQuery] = useState('');
  const [active, setActive] = useState(0);
  const { hits, isComplete, isBusy, hasFailed } = useSearch(query);
  const listId = useId();

  const commands: Row[] = bindings.value
    .filter(({ keys, label }) => !OWN_KEYS.includes(keys) && label.toLowerCase().includes(query.toLowerCase()))
    .map(({ keys, label, run }) => ({ id: `command-${keys.replace(' ', '-')}`, icon: 'command', run, label }));
  const records: Row[] = hits.map((hit) => ({
    id: `${hit.kind}-${hit.id}`,
    icon: HIT_ICONS[hit.kind] ?? hit.kind,
    run: () => go(hitAddress(hit)),
    hit,
    label: hit.title,
  }));
  const allResults: Row = {
    id: 'all-results',
    icon: 'search',
    run: () => go(to('search', { q: query.trim() })),
    label: texts.palette.all(query.trim()),
  };
  const rows = query === '' ? commands : [...records, ...commands, ...(hits.length > 0 ? [allResults] : [])];
  const index = Math.min(active, rows.length - 1);
  const choose = (row: Row | undefined) => {
    if (!row) return;
    onClose();
    // The dialog gives the focus back first, so that what is opened may take it.
    setTimeout(row.run);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && rows.length > 0) {
      event.preventDefault();
      setActive((index + step + rows.length) % rows.length);
    }
    if (event.key === 'Enter') {
      event.preventDefault();
      choose(rows[index]);
    }
  };
  const status = hasFailed
    ? texts.palette.failed
    : isBusy
      ? texts.loading
      : rows.length === 0
        ? texts.palette.none
        : texts.palette.count(records.length + commands.length);
  return (
    <Dialog kind="palette" title={texts.palette.title} onClose={onClose}>
      <div class="palette-input">
        <Icon name="search" />
        <input
          type="text"
          role="combobox"
          aria-label={texts.palette.title}
          aria-expanded="true"
          aria-controls={listId}
          aria-autocomplete="list"
          aria-activedescendant={rows[index]?.id}
          autoComplete="off"
          data-autofocus
          maxLength={MAX_QUERY_LENGTH}
          placeholder={texts.palette.placeholder}
          value={query}
          onInput={(event) => {
            setQuery(event.currentTarget.value);
            setActive(0);
          }}
          onKeyDown={onKeyDown}
        />
      </div>
      <div id={listId} role="listbox" aria-label={texts.palette.records}>
        {rows.map((row, i) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the input, which has the focus.
          <div
            key={row.id}
            id={row.id}
            role="option"
            tabIndex={-1}
            aria-selected={i === index}
            ref={(element) => {
              if (i === index) element?.scrollIntoView({ block: 'nearest' });
            }}
            onClick={() => choose(row)}
            onPointerMove={() => setActive(i)}
          >
            <Icon name={row.icon} />
            {row.hit ? <Hit hit={row.hit} /> : <span>{row.label}</span>}
          </div>
        ))}
      </div>
      <p class="palette-status" role="status">
        <span>{status}</span>
        <small>{isComplete ? texts.palette.hint : texts.palette.building}</small>
      </p>
    </Dialog>
  );
}

/** What matches is marked. Every piece is text, so that nothing in a record can look like a mark. */
function Hit({ hit: { title, fragment, case: found } }: { hit: SearchHit }) {
  return (
    <span class="hit">
      <strong>{title}</strong>
      <small>{fragment.pieces.map(({ text, match }, i) => (match ? <mark key={i}>{text}</mark> : text))}</small>
      <small class="of-case">{found.reference}</small>
    </span>
  );
}

function useSearch(query: string) {
  const [found, setFound] = useState({ hits: [] as SearchHit[], isComplete: true, isBusy: false, hasFailed: false });
  useEffect(() => {
    const q = query.trim();
    const controller = new AbortController();
    setFound((old) => ({ ...old, hits: q ? old.hits : [], isBusy: q !== '', hasFailed: false }));
    if (!q) return;
    const timer = setTimeout(async () => {
      try {
        const search = { q, limit: MAX_HITS, signal: controller.signal };
        let { data, next } = await service.search(search);
        // A page can be empty although others follow it.
        for (let page = 1; data.hits.length === 0 && next && page < MAX_PAGES; page++) {
          ({ data, next } = await service.search({ ...search, ...next }));
        }
        setFound({ hits: data.hits, isComplete: data.complete, isBusy: false, hasFailed: false });
      } catch {
        if (!controller.signal.aborted) setFound({ hits: [], isComplete: true, isBusy: false, hasFailed: true });
      }
    }, DEBOUNCE_MS);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [query]);
  return found;
}
