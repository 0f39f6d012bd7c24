import { texts } from '../texts.ts';
import { Button } from './button.tsx';

type PageLinksProps = {
  /** The addresses of other pages, if there are such. */
  first?: string | undefined;
  previous?: string | undefined;
  next?: string | undefined;
  /** Which entries this page has. */
  range?: string | undefined;
};

/** The new page begins at its top, for the eyes and for a screen reader. */
function onTurn(): void {
  scrollTo(0, 0);
  document.getElementById('main')?.focus({ preventScroll: true });
}

/** The pages of a list whose position is in the address, so that the browser leads back to the page before. */
export function PageLinks({ range, ...links }: PageLinksProps) {
  const shown = (['first', 'previous', 'next'] as const).filter((name) => links[name]);
  if (shown.length === 0)
    return (
      <p class="pager">
        <small>{range ?? texts.pager.end}</small>
      </p>
    );
  return (
    <nav class="pager pages" aria-label={texts.pages.label}>
      {range && <small>{range}</small>}
      {shown.map((name) => (
        <Button key={name} href={links[name] ?? ''} onClick={onTurn}>
          {texts.pages[name]}
        </Button>
      ))}
    </nav>
  );
}
