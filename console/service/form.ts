import { CaseRecordsError } from '@case-records/client';
import { type Signal, signal } from '@preact/signals';
import { useMemo, useRef } from 'preact/hooks';
import { isUnreachable } from './client.ts';
import { readDraft, removeDraft, writeDraft } from './drafts.ts';
import { type Faults, faultsOf } from './faults.ts';

/** The values of a form, flat: an item of a list has the name that faults have, such as `items[0].rate`. */
export type Values = Readonly<Record<string, string | boolean>>;

/** What a write sends besides its values, so that it happens once and overwrites nothing unseen. */
export type Careful = { idempotencyKey: string; ifMatch?: string };

/** The record as it is now, for an edit. */
export type Current = { values: Values; etag: string | undefined };

export type FormOptions = {
  /** Names the draft: the same form of the same record has the same key. */
  draft: string;
  /** What the form begins with. For an edit with the tag of the record that was read. */
  initial: Values;
  etag?: string | undefined;
  send: (values: Values, careful: Careful) => Promise<void>;
  /** Fields that are never stored with the draft, such as a secret. */
  secrets?: readonly string[];
  /** Reads the record again after somebody else has changed it. Only for an edit. */
  read?: () => Promise<Current>;
};

/** Two versions of a record: of what was typed here, and of what is stored now. */
export type Conflict = { mine: Values; theirs: Current };

type Draft = { values: Values; etag: string | undefined; attempt: Attempt | undefined };
/** A write whose result is not known. The same values are sent again with the same key. */
type Attempt = { key: string; values: string };

export type Form = {
  values: Signal<Values>;
  faults: Signal<Faults>;
  isSending: Signal<boolean>;
  conflict: Signal<Conflict | undefined>;
  /** Whether the form began with what was typed before a reload. */
  isRestored: Signal<boolean>;
  set(name: string, value: string | boolean): void;
  replace(values: Values): void;
  submit(): Promise<void>;
  /** Ends a conflict with the values that the person has chosen, and sends them. */
  resolve(values: Values): Promise<void>;
  discard(): void;
  /** Does something else with the record, such as deleting it. Its faults appear like those of the form. */
  run(work: () => Promise<void>): Promise<void>;
};

/** Creates a form when the component appears. What is typed is a draft until the write has succeeded. */
export function useForm(options: FormOptions): Form {
  const latest = useRef(options);
  latest.current = options;
  return useMemo(() => createForm(() => latest.current), [options.draft]);
}

function createForm(options: () => FormOptions): Form {
  const { draft: draftKey, initial } = options();
  const restored = readDraft<Draft>(draftKey);
  let etag = restored ? restored.etag : options().etag;
  let attempt = restored?.attempt;
  const values = signal<Values>(restored ? { ...initial, ...restored.values } : initial);
  const faults = signal<Faults>({});
  const isSending = signal(false);
  const conflict = signal<Conflict | undefined>(undefined);
  const isRestored = signal(restored !== undefined);

  const store = () => {
    const { secrets = [] } = options();
    const stored = Object.fromEntries(Object.entries(values.value).filter(([name]) => !secrets.includes(name)));
    // The attempt repeats the values.
    const kept = secrets.length === 0 ? attempt : undefined;
    writeDraft(draftKey, { values: stored, etag, attempt: kept } satisfies Draft);
  };
  const replace = (next: Values) => {
    values.value = next;
    store();
  };
  const set = (name: string, value: string | boolean) => {
    const { [name]: _, ...others } = faults.value;
    faults.value = others;
    replace({ ...values.value, [name]: value });
  };

  async function submit(): Promise<void> {
    // A double click must not be two writes.
    if (isSending.value) return;
    isSending.value = true;
    faults.value = {};
    const sent = JSON.stringify(values.value);
    if (attempt?.values !== sent) attempt = { key: crypto.randomUUID(), values: sent };
    store();
    try {
      await options().send(values.value, { idempotencyKey: attempt.key, ...(etag !== undefined && { ifMatch: etag }) });
      removeDraft(draftKey);
    } catch (error) {
      await onFailure(error);
    } finally {
      isSending.value = false;
    }
  }

  async function onFailure(error: unknown): Promise<void> {
    const isUncertain = isUnreachable(error) || ((error as CaseRecordsError).status ?? 0) >= 500;
    if (!isUncertain) attempt = undefined;
    store();
    const { read } = options();
    if (read && error instanceof CaseRecordsError && error.code === 'precondition_failed') {
      try {
        conflict.value = { mine: values.value, theirs: await read() };
      } catch (failure) {
        faults.value = faultsOf(failure, []);
      }
      return;
    }
    faults.value = faultsOf(error, Object.keys(values.value));
  }

  return {
    values,
    faults,
    isSending,
    conflict,
    isRestored,
    set,
    replace,
    submit,
    resolve: async (chosen) => {
      etag = conflict.value?.theirs.etag;
      conflict.value = undefined;
      replace(chosen);
      await submit();
    },
    run: async (work) => {
      try {
        await work();
        removeDraft(draftKey);
      } catch (error) {
        faults.value = faultsOf(error, Object.keys(values.value));
      }
    },
    discard: () => {
      removeDraft(draftKey);
      values.value = options().initial;
      etag = options().etag;
      attempt = undefined;
      faults.value = {};
      isRestored.value = false;
    },
  };
}
