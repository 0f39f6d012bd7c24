import type { Case, SearchHit } from '@case-records/client';
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Button } from '../../components/button.tsx';
import { useFormContext } from '../../components/form.tsx';
import { to } from '../../navigation/place.ts';
import { service } from '../../service/client.ts';
import { ofCase } from '../../service/following.ts';
import { type Loaded, useLoaded } from '../../service/loading.ts';
import { texts } from '../../texts.ts';
import { text } from './texts.ts';

const DEBOUNCE_MS = 150;
const MAX_HITS = 8;
const MAX_QUERY_LENGTH = 200;

export const useCase = (caseId: string): Loaded<Case> =>
  useLoaded(
    caseId ? `diary/case/${caseId}` : undefined,
    async (signal) => (await service.getCase({ caseId, signal })).data,
    ofCase(caseId),
  );

/** The case of an appointment, found by the names of its clients, its reference, a number or a word. */
export function CaseField({ found }: { found: Loaded<Case> }) {
  const { form } = useFormContext();
  const caseId = String(form.values.value.case ?? '');
  const element = useRef<HTMLDivElement>(null);
  const isFirst = useRef(true);
  // What had the focus is not there any more, so what took its place gets it.
  useLayoutEffect(() => {
    if (!isFirst.current) element.current?.querySelector<HTMLElement>('input, button')?.focus();
    isFirst.current = false;
  }, [caseId]);
  const choose = (id: string) => form.set('case', id);
  return (
    <div class="field wide" ref={element}>
      {caseId ? (
        <ChosenCase caseId={caseId} found={found} onChange={() => choose('')} />
      ) : (
        <CaseSearch onChoose={choose} />
      )}
    </div>
  );
}

type ChosenCaseProps = { caseId: string; found: Loaded<Case>; onChange: () => void };

function ChosenCase({ caseId, found, onChange }: ChosenCaseProps) {
  return (
    <div class="diary-case">
      <span>{text.case}</span>
      <p>
        <a href={to(`cases/${caseId}`)}>{found.data?.reference ?? (found.error ? text.caseFailed : texts.loading)}</a>
        <Button kind="quiet" onClick={onChange}>
          {text.caseChange}
        </Button>
      </p>
    </div>
  );
}

function CaseSearch({ onChoose }: { onChoose: (caseId: string) => void }) {
  const { form } = useFormContext();
  const [query, setQuery] = useState('');
  const [active, setActive] = useState(0);
  const { hits, status } = useCases(query);
  const id = useId();
  const fault = form.faults.value.case;
  const index = Math.min(active, hits.length - 1);
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && hits.length > 0) setActive((index + step + hits.length) % hits.length);
    else if (event.key === 'Enter' && !event.ctrlKey && !event.metaKey) {
      const hit = hits[index];
      if (hit) onChoose(hit.case.id);
    } else return;
    event.preventDefault();
  };
  return (
    <>
      <label for={id}>{text.caseSearch}</label>
      <input
        id={id}
        type="text"
        role="combobox"
        aria-autocomplete="list"
        aria-expanded={hits.length > 0}
        aria-controls={`${id}-list`}
        aria-activedescendant={hits[index] && `${id}-${index}`}
        aria-invalid={fault ? 'true' : undefined}
        aria-describedby={`${id}-status${fault ? ` ${id}-fault` : ''}`}
        aria-required="true"
        autoComplete="off"
        data-autofocus
        maxLength={MAX_QUERY_LENGTH}
        value={query}
        onInput={(event) => {
          setQuery(event.currentTarget.value);
          setActive(0);
        }}
        onKeyDown={onKeyDown}
      />
      <div class="diary-hits" id={`${id}-list`} role="listbox" aria-label={text.caseSearch}>
        {hits.map((hit, i) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the input, which has the focus.
          <div
            key={hit.case.id}
            id={`${id}-${i}`}
            role="option"
            tabIndex={-1}
            aria-selected={i === index}
            onClick={() => onChoose(hit.case.id)}
          >
            <span>{hit.title}</span> <small>{hit.case.reference}</small>
          </div>
        ))}
      </div>
      <small class="hint" id={`${id}-status`} role="status">
        {status}
      </small>
      {fault && (
        <p class="fault" id={`${id}-fault`}>
          {fault}
        </p>
      )}
    </>
  );
}

function useCases(query: string): { hits: SearchHit[]; status: string } {
  const [found, setFound] = useState<{ hits: SearchHit[]; status: string }>({ hits: [], status: text.caseHint });
  useEffect(() => {
    const q = query.trim();
    if (!q) return setFound({ hits: [], status: text.caseHint });
    const controller = new AbortController();
    const timer = setTimeout(async () => {
      try {
        const { data } = await service.search({
          q,
          kinds: 'case,customer',
          limit: MAX_HITS * 2,
          signal: controller.signal,
        });
        // Both a case and its clients may be found.
        const hits = [...new Map(data.hits.toReversed().map((hit) => [hit.case.id, hit])).values()].toReversed();
        const count = Math.min(hits.length, MAX_HITS);
        setFound({ hits: hits.slice(0, MAX_HITS), status: count === 0 ? text.caseNone : text.caseCount(count) });
      } catch {
        if (!controller.signal.aborted) setFound({ hits: [], status: text.caseFailed });
      }
    }, DEBOUNCE_MS);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [query]);
  return found;
}
