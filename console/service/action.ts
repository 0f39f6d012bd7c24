import { type Signal, signal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { isUncertain } from './client.ts';
import { failureOf } from './faults.ts';

export type Action = {
  isBusy: Signal<boolean>;
  /** What went wrong, to show beside the button. */
  failure: Signal<string | undefined>;
  /** Returns whether it has succeeded. `button` tells apart the buttons that share an action. */
  run(work: (idempotencyKey: string) => Promise<unknown>, button?: string): Promise<boolean>;
};

/** The writes of buttons: one at a time. After a lost answer the next press has the same key, so it is the same write. */
export function useAction(name: string): Action {
  return useMemo(() => {
    const keys = new Map<string, string>();
    const isBusy = signal(false);
    const failure = signal<string | undefined>(undefined);
    const run: Action['run'] = async (work, button = '') => {
      if (isBusy.value) return false;
      isBusy.value = true;
      failure.value = undefined;
      const key = keys.get(button) ?? crypto.randomUUID();
      keys.set(button, key);
      try {
        await work(key);
        keys.delete(button);
      } catch (error) {
        if (!isUncertain(error)) keys.delete(button);
        failure.value = failureOf(error);
      } finally {
        isBusy.value = false;
      }
      return failure.value === undefined;
    };
    return { isBusy, failure, run };
  }, [name]);
}
