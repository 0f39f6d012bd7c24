import { CaseRecordsError } from '@case-records/client';
import { type Signal, signal } from '@preact/signals';
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { fieldLabel, texts } from '../texts.ts';
import { isUncertain } from './client.ts';
import { readDraft, removeDraft, writeDraft } from './drafts.ts';
import { type Faults, faultsOf } from './faults.ts';
import { differingParts, takeParts, type Values } from './values.ts';

export type { Values } from './values.ts';

/** What a write sends besides its values, so that it happens once and overwrites nothing unseen. */
export type Careful = { idempotencyKey: string; ifMatch?: string };

/** The record as it is now, for an edit. */
export type Current = { values: Values; etag: string | undefined };

export type FormOptions<Answer> = {
  /** Names the draft: the same form of the same record has the same key. */
  draft: string;
  /** What the form begins with. For an edit with the tag of the record that was read. */
  initial: Values;
  etag?: string | undefined;
  /** What is stored, if the form begins with a change of it. */
  base?: Values;
  /** The write alone. What differs from `base` is what the person has changed. */
  send: (values: Values, careful: Careful, base: Values) => Promise<Answer>;
  /** What follows the write. The draft is gone then, so that a form that appears again begins anew. */
  onSent?: (answer: Answer) => void;
  /** Fields that are never stored with the draft, such as a secret. */
  secrets?: readonly string[];
  /** Reads the record again after somebody else has changed it. Only for an edit. */
  read?: () => Promise<Current>;
};

/**
 * Two versions of a record: of what was typed here, and of what is stored now. `mine` already has what only the other
 * person has changed; `parts` names what both have changed.
 */
export type Conflict = { mine: Values; theirs: Current; parts: readonly string[] };

type Draft = { values: Values; base: Values; etag: string | undefined; attempt: Attempt | undefined };
/** A write whose result is not known. The same values are sent again with the same key. */
type Attempt = { key: string; values: string };

export type Form = {
  values: Signal<Values>;
  faults: Signal<Faults>;
  /** How often a write was refused. */
  refusals: Signal<number>;
  isSending: Signal<boolean>;
  conflict: Signal<Conflict | undefined>;
  /** Whether the form began with what was typed before a reload. */
  isRestored: Signal<boolean>;
  /** What its fields are called, by their names. */
  labels: Map<string, string>;
  set(name: string, value: string | boolean): void;
  replace(values: Values): void;
  /** Begins anew with a record as it is now. */
  begin(current: Current): void;
  /** Begins anew with a record that was read again, if nothing was typed. */
  follow(current: Current): void;
  /** `incomplete` names fields whose text is no value yet, such as a date without a time. */
  submit(incomplete?: readonly string[]): Promise<void>;
  /** Ends a conflict with the values that the person has chosen, and sends them. */
  resolve(values: Values): Promise<void>;
  discard(): void;
  /** Does something else with the record, such as deleting it. Its faults appear like those of the form. */
  run(work: (careful: Careful) => Promise<unknown>, onDone?: () => void): Promise<void>;
};

/** Creates a form when the component appears. What is typed is a draft until the write has succeeded. */
export function useForm<Answer>(options: FormOptions<Answer>): Form {
  const latest = useRef(options);
  latest.current = options;
  const form = useMemo(() => createForm(() => latest.current), [options.draft]);
  useLayoutEffect(() => form.follow({ values: options.initial, etag: options.etag }), [options.etag]);
  return form;
}

function createForm<Answer>(options: () => FormOptions<Answer>): Form {
  const { draft: draftKey, initial } = options();
  const restored = readDraft<Draft>(draftKey);
  const startOf = (values: Values): Values => options().base ?? values;
  let base = restored?.base ?? startOf(initial);
  let etag = restored ? restored.etag : options().etag;
  let attempt = restored?.attempt;
  let removalKey: string | undefined;
  let isTouched = restored !== undefined;
  const values = signal<Values>(restored ? { ...withoutLines(initial), ...restored.values } : initial);
  const faults = signal<Faults>({});
  const refusals = signal(0);
  const isSending = signal(false);
  const conflict = signal<Conflict | undefined>(undefined);
  const isRestored = signal(isTouched);
  const labels = new Map<string, string>();

  const store = () => {
    const { secrets = [] } = options();
    const open = (all: Values) => Object.fromEntries(Object.entries(all).filter(([name]) => !secrets.includes(name)));
    // The attempt repeats the values.
    const kept = secrets.length === 0 ? attempt : undefined;
    writeDraft(draftKey, { values: open(values.value), base: open(base), etag, attempt: kept } satisfies Draft);
  };
  const replace = (next: Values) => {
    isTouched = true;
    values.value = next;
    store();
  };
  const set = (name: string, value: string | boolean) => {
    const { [name]: _, ...others } = faults.value;
    faults.value = others;
    replace({ ...values.value, [name]: value });
  };
  const forget = () => {
    removeDraft(draftKey);
    isTouched = false;
    isRestored.value = false;
    attempt = undefined;
  };
  const begin = (current: Current) => {
    forget();
    values.value = current.values;
    base = startOf(current.values);
    etag = current.etag;
  };
  const refuse = (found: Faults) => {
    faults.value = found;
    refusals.value++;
  };
  const stop = () => {
    isSending.value = false;
  };
  const labelOf = (name: string) => labels.get(name) ?? fieldLabel(name);
  const refuseWith = (error: unknown) => refuse(faultsOf(error, Object.keys(values.value), labelOf));
  const careful = (idempotencyKey: string): Careful => ({
    idempotencyKey,
    ...(etag !== undefined && { ifMatch: etag }),
  });

  async function submit(incomplete: readonly string[] = []): Promise<void> {
    // A double click must not be two writes.
    if (isSending.value) return;
    if (incomplete.length > 0)
      return refuse(Object.fromEntries(incomplete.map((name) => [name, texts.form.incomplete])));
    isSending.value = true;
    faults.value = {};
    const sent = JSON.stringify(values.value);
    if (attempt?.values !== sent) attempt = { key: crypto.randomUUID(), values: sent };
    store();
    let answer: Answer;
    try {
      answer = await options().send(values.value, careful(attempt.key), base);
    } catch (error) {
      if (!isUncertain(error)) attempt = undefined;
      store();
      const isMerged = await meet(error).finally(stop);
      return isMerged ? submit() : undefined;
    }
    forget();
    stop();
    options().onSent?.(answer);
  }

  /**
   * Says what went wrong. If somebody else has changed the record, takes that version where this person has changed
   * nothing, and asks about the rest. Returns true if nothing is left to ask.
   */
  async function meet(error: unknown): Promise<boolean> {
    const { read } = options();
    if (!read || !(error instanceof CaseRecordsError) || error.code !== 'precondition_failed') {
      refuseWith(error);
      return false;
    }
    try {
      const theirs = await read();
      // A tag that the service does not accept although it is the newest would be sent forever.
      if (theirs.etag === etag) throw error;
      const changed = differingParts(theirs.values, base);
      const mine = takeParts(theirs.values, values.value, differingParts(values.value, base));
      const parts = differingParts(mine, theirs.values).filter((part) => changed.includes(part));
      conflict.value = parts.length > 0 ? { mine, theirs, parts } : undefined;
      if (parts.length === 0) accept(mine, theirs);
      return parts.length === 0;
    } catch (failure) {
      refuseWith(failure);
      return false;
    }
  }

  /** The form goes on from the version that somebody else has saved. */
  function accept(next: Values, theirs: Current): void {
    base = theirs.values;
    etag = theirs.etag;
    replace(next);
  }

  return {
    values,
    faults,
    refusals,
    isSending,
    conflict,
    isRestored,
    labels,
    set,
    replace,
    begin,
    follow: (current) => {
      if (!isTouched && !isSending.value) begin(current);
    },
    submit,
    resolve: async (chosen) => {
      if (conflict.value) accept(chosen, conflict.value.theirs);
      conflict.value = undefined;
      await submit();
    },
    run: async (work, onDone) => {
      if (isSending.value) return;
      isSending.value = true;
      removalKey ??= crypto.randomUUID();
      const wasTouched = isTouched;
      try {
        await work(careful(removalKey));
      } catch (error) {
        if (!isUncertain(error)) removalKey = undefined;
        // The person sees the other version before the record is deleted after all.
        if (await meet(error)) {
          if (!wasTouched) begin({ values: values.value, etag });
          refuseWith(error);
        }
        return;
      } finally {
        stop();
      }
      forget();
      onDone?.();
    },
    discard: () => {
      begin({ values: options().initial, etag: options().etag });
      faults.value = {};
    },
  };
}

/** The lines of a list are those of the draft alone: one that was removed must not come back. */
const withoutLines = (values: Values): Values =>
  Object.fromEntries(Object.entries(values).filter(([name]) => !name.includes('[')));
