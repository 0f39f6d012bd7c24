import { CaseRecordsError } from '@case-records/client';
import { type Signal, signal } from '@preact/signals';
import { useMemo, useRef } from 'preact/hooks';
import { isUnreachable } from './client.ts';
import { faultsOf, messageOf } from './faults.ts';

export type Action = {
  isBusy: Signal<boolean>;
  /** What went wrong, to show beside the button. */
  failure: Signal<string | undefined>;
  run(work: (idempotencyKey: string) => Promise<unknown>): Promise<void>;
};

/** The writes of buttons: one at a time. After a lost answer the next try has the same key, so it is the same write. */
export function useAction(name: string): Action {
  const key = useRef<string | undefined>(undefined);
  return useMemo(() => {
    key.current = undefined;
    const isBusy = signal(false);
    const failure = signal<string | undefined>(undefined);
    const run: Action['run'] = async (work) => {
      if (isBusy.value) return;
      isBusy.value = true;
      failure.value = undefined;
      key.current ??= crypto.randomUUID();
      try {
        await work(key.current);
        key.current = undefined;
      } catch (error) {
        const isUncertain = isUnreachable(error) || ((error as { status?: number }).status ?? 0) >= 500;
        if (!isUncertain) key.current = undefined;
        failure.value = failureOf(error);
      }
      isBusy.value = false;
    };
    return { isBusy, failure, run };
  }, [name]);
}

/** A button has no fields: what is wrong with the state of the record is said as it is. */
function failureOf(error: unknown): string {
  if (!(error instanceof CaseRecordsError) || error.faults.length === 0) return messageOf(error);
  const fields = error.faults.map(({ field }) => field);
  return Object.values(faultsOf(error, fields)).join(' ');
}
