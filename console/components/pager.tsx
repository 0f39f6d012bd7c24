import type { Entries } from '../service/loading.ts';
import { texts } from '../texts.ts';
import { Button } from './button.tsx';
import { ErrorState } from './states.tsx';

/** The end of a list, or the way to its next page. */
export const Pager = ({ of: { hasMore, more, moreError } }: { of: Omit<Entries<unknown>, 'entries'> }) => (
  <>
    {moreError !== undefined && <ErrorState error={moreError} />}
    <p class="pager">
      {hasMore ? <Button onClick={more}>{texts.pager.more}</Button> : <small>{texts.pager.end}</small>}
    </p>
  </>
);
