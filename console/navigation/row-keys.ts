import { texts } from '../texts.ts';
import { useKeys } from './keys.ts';

/** `j` and `k` move through the rows of a list. A row has one link with `data-row`, which Enter opens. */
export function useRowKeys(): void {
  const move = (step: 1 | -1) => {
    const rows = [...document.querySelectorAll<HTMLElement>('main [data-row]')];
    const current = rows.findIndex((row) => row.closest('tr, li')?.contains(document.activeElement));
    const next = Math.min(Math.max(current + step, 0), rows.length - 1);
    rows[next]?.focus();
  };
  useKeys([
    { keys: 'j', label: texts.rowKeys.next, run: () => move(1) },
    { keys: 'k', label: texts.rowKeys.previous, run: () => move(-1) },
  ]);
}
