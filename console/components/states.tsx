import type { ComponentChildren } from 'preact';
import { messageOf } from '../service/faults.ts';
import { signInAgain } from '../service/session.ts';
import { texts } from '../texts.ts';
import { Button } from './button.tsx';
import { Icon } from './icon.tsx';

/** Grey lines in the shape of what is loaded. They appear after a moment only, so that fast answers do not flicker. */
export const Skeleton = ({ lines = 4 }: { lines?: number }) => (
  <div class="skeleton" role="status" aria-label={texts.loading}>
    {Array.from({ length: lines }, (_, line) => (
      <span key={line} />
    ))}
  </div>
);

export const EmptyState = ({ title, children }: { title: string; children?: ComponentChildren }) => (
  <div class="empty-state">
    <p>{title}</p>
    {children}
  </div>
);

/** What went wrong, and how to go on. */
export function ErrorState({ error, retry }: { error: unknown; retry?: () => void }) {
  const needsSignIn = (error as { code?: string }).code === 'recent_sign_in_required';
  return (
    <div class="error-state" role="alert">
      <Icon name="warning" />
      <p>{messageOf(error)}</p>
      {needsSignIn && <Button onClick={() => signInAgain('again')}>{texts.sessionEnded.action}</Button>}
      {retry && !needsSignIn && <Button onClick={retry}>{texts.retry}</Button>}
    </div>
  );
}

type LoadedProps<T> = {
  of: { data: T | undefined; error: unknown; reload: () => void };
  lines?: number;
  children: (data: T) => ComponentChildren;
};

/** Shows data in each of its states: loading, failed, there. Old data stays while a reload fails. */
export function Loaded<T>({ of: { data, error, reload }, lines, children }: LoadedProps<T>) {
  if (data !== undefined) return <>{children(data)}</>;
  if (error !== undefined) return <ErrorState error={error} retry={reload} />;
  return <Skeleton {...(lines !== undefined && { lines })} />;
}
