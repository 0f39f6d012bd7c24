import type { ComponentChildren } from 'preact';
import { hasSessionEnded, isOffline } from '../service/client.ts';
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

type ErrorProps = { error: unknown; text?: string; retry?: () => void };

/** What went wrong, and how to go on. */
export function ErrorState({ error, text = messageOf(error), retry }: ErrorProps) {
  const needsSignIn = (error as { code?: string }).code === 'recent_sign_in_required';
  return (
    <div class="error-state" role="alert">
      <Icon name="warning" />
      <p>{text}</p>
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

/** Shows data in each of its states: loading, failed, there. Old data stays while a reload fails, and that is said. */
export function Loaded<T>({ of: { data, error, reload }, lines, children }: LoadedProps<T>) {
  // The whole console says so if there is no connection or no session.
  const isSaid = data !== undefined && (isOffline.value || hasSessionEnded.value);
  return (
    <>
      {error !== undefined && !isSaid && <ErrorState error={error} retry={reload} />}
      {data !== undefined
        ? children(data)
        : error === undefined && <Skeleton {...(lines !== undefined && { lines })} />}
    </>
  );
}
