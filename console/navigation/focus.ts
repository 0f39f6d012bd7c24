import { useLayoutEffect, useRef } from 'preact/hooks';

/** What had the focus last, and everything around it. */
let last: readonly EventTarget[] = [];

const FOCUSABLE = 'a[href], button, input, select, textarea';

/**
 * A row that is deleted takes the focus with it, and the keyboard would begin at the top of the page. The nearest part
 * of the page that is left gets it.
 */
export function keepFocus(): void {
  document.addEventListener('focusin', (event) => {
    last = event.composedPath();
  });
  // Somebody who presses beside everything wants the focus nowhere.
  document.addEventListener('pointerdown', () => {
    last = [];
  });
  new MutationObserver(() => {
    const [lost, ...around] = last as Element[];
    if (!lost || lost.isConnected || document.activeElement !== document.body) return;
    last = [];
    const left = around.find((one) => one.isConnected && one !== document.body && one.querySelector?.(FOCUSABLE));
    left?.querySelector<HTMLElement>(FOCUSABLE)?.focus();
  }).observe(document.body, { childList: true, subtree: true });
}

/** Gives the focus to what asks for it in a part that may appear later than its panel, when a record has been loaded. */
export function useAutoFocus<Part extends HTMLElement>() {
  const part = useRef<Part>(null);
  useLayoutEffect(() => part.current?.querySelector<HTMLElement>('[data-autofocus]')?.focus(), []);
  return part;
}
