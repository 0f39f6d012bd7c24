import { texts } from '../texts.ts';
import { Button } from './button.tsx';

/** The end of a list, or the way to its next page. */
export const Pager = ({ of: { hasMore, more } }: { of: { hasMore: boolean; more: () => void } }) => (
  <p class="pager">{hasMore ? <Button onClick={more}>{texts.pager.more}</Button> : <small>{texts.pager.end}</small>}</p>
);
