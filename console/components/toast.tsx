import { signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { isUncertain } from '../service/client.ts';
import { failureOf } from '../service/faults.ts';
import { announce, type Change } from '../service/following.ts';
import { texts } from '../texts.ts';
import { Button } from './button.tsx';
import { Icon } from './icon.tsx';

/** After a lost answer the next try has the same key, so it is the same write. */
export type Undo = (idempotencyKey: string) => Promise<unknown>;
type Toast = { id: number; text: string; undo: Undo | undefined; idempotencyKey: string };

const SHOWN_MS = 12_000;
const MAX_TOASTS = 3;
const toasts = signal<readonly Toast[]>([]);
let lastId = 0;

/** Tells what has happened, with a way to take it back. */
export function toast(text: string, undo?: Undo, idempotencyKey: string = crypto.randomUUID()): void {
  toasts.value = [...toasts.value.slice(1 - MAX_TOASTS), { id: ++lastId, text, undo, idempotencyKey }];
}

/** Tells the screens and the person of a change that this page has made. */
export function report(change: Change, text: string, undo?: Undo): void {
  announce(change);
  toast(
    text,
    undo &&
      (async (idempotencyKey) => {
        await undo(idempotencyKey);
        announce(change);
      }),
  );
}

const dismiss = (id: number): void => {
  toasts.value = toasts.value.filter((one) => one.id !== id);
};

/**
 * A modal dialog makes all that is outside of it inert, so its own toasts show what happens while it is open. `isShown` is
 * false for the others.
 */
export function Toasts({ isShown }: { isShown: boolean }) {
  const list = useRef<HTMLDivElement>(null);
  const shown = isShown ? toasts.value : [];
  const count = shown.length;
  useEffect(() => {
    if (count === 0) return;
    list.current?.hidePopover();
    list.current?.showPopover();
  }, [count]);
  return (
    <div class="toasts" popover="manual" role="status" ref={list}>
      {shown.map((one) => (
        <ToastLine key={one.id} {...one} />
      ))}
    </div>
  );
}

function ToastLine({ id, text, undo, idempotencyKey }: Toast) {
  const line = useRef<HTMLDivElement>(null);
  useEffect(() => {
    let left = SHOWN_MS;
    const timer = setInterval(() => {
      // Somebody who reads it or is about to press it gets all the time.
      if (!line.current?.matches(':hover, :focus-within')) left -= 500;
      if (left <= 0) dismiss(id);
    }, 500);
    return () => clearInterval(timer);
  }, [id]);
  const onUndo = async () => {
    dismiss(id);
    await undo?.(idempotencyKey).catch((error) =>
      toast(failureOf(error), isUncertain(error) ? undo : undefined, idempotencyKey),
    );
  };
  return (
    <div class="toast" ref={line}>
      <span>{text}</span>
      {undo && <Button onClick={onUndo}>{texts.undo}</Button>}
      <button type="button" class="icon-button" aria-label={texts.dismiss} onClick={() => dismiss(id)}>
        <Icon name="close" />
      </button>
    </div>
  );
}
