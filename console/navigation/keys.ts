import { signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';

/** A key, or two in a row such as `g c`, and what it does. */
export type KeyBinding = { keys: string; label: string; run: () => void };

/** The keys that work now: those of the whole console, then those of the screen. */
export const bindings = signal<readonly KeyBinding[]>([]);

/** Somebody who dictates may say a letter by accident, so single keys can be turned off. */
const STORED = 'single-keys';
export const hasSingleKeys = signal(localStorage.getItem(STORED) !== 'off');
export function setSingleKeys(isOn: boolean): void {
  localStorage.setItem(STORED, isOn ? 'on' : 'off');
  hasSingleKeys.value = isOn;
}

const SEQUENCE_MS = 1_200;
let pending: { key: string; at: number } | undefined;

/** Registers keys while the component is shown. */
export function useKeys(own: readonly KeyBinding[]): void {
  const latest = useRef(own);
  latest.current = own;
  const names = own.map(({ keys }) => keys).join();
  useEffect(() => {
    const registered = latest.current.map(({ keys, label }) => ({
      keys,
      label,
      run: () => latest.current.find((one) => one.keys === keys)?.run(),
    }));
    bindings.value = [...bindings.value, ...registered];
    return () => {
      bindings.value = bindings.value.filter((one) => !registered.includes(one));
    };
  }, [names]);
}

export function listenForKeys(): void {
  document.addEventListener('keydown', (event) => {
    const { key, ctrlKey, metaKey, altKey } = event;
    if ((ctrlKey || metaKey) && key.toLowerCase() === 'k') return run('ctrl+k', event);
    if (ctrlKey || metaKey || altKey || event.defaultPrevented || isTyping(event.target)) return;
    if (!hasSingleKeys.value || document.querySelector('dialog[open]')) return;
    const first = pending && event.timeStamp - pending.at < SEQUENCE_MS ? `${pending.key} ` : '';
    pending = undefined;
    if (run(first + key, event)) return;
    if (bindings.value.some(({ keys }) => keys.startsWith(`${key} `))) pending = { key, at: event.timeStamp };
  });
}

function run(keys: string, event: KeyboardEvent): boolean {
  // The binding of the screen wins.
  const binding = bindings.value.findLast((one) => one.keys === keys);
  if (!binding) return false;
  event.preventDefault();
  binding.run();
  return true;
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
