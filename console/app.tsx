import { signal } from '@preact/signals';
import { Component, type ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { Button } from './components/button.tsx';
import { openDialogs } from './components/dialog.tsx';
import { RecentSignIn } from './components/recent-sign-in.tsx';
import { EmptyState, ErrorState, Skeleton } from './components/states.tsx';
import { Toasts } from './components/toast.tsx';
import { place, to } from './navigation/place.ts';
import { Shell } from './navigation/shell.tsx';
import { findScreen } from './screens.ts';
import { hasSessionEnded } from './service/client.ts';
import { may, signedIn, signInAgain, signOut, signOutError, startSession } from './service/session.ts';
import { texts } from './texts.ts';

const startError = signal<unknown>(undefined);

/** Called before the first rendering, so that the service works while the browser does. */
export async function start(): Promise<void> {
  startError.value = undefined;
  try {
    await startSession();
  } catch (error) {
    if (hasSessionEnded.value) return signInAgain();
    startError.value = error;
    addEventListener('online', start, { once: true });
  }
}

export function App() {
  if (signedIn.value) {
    return (
      <Shell>
        <CurrentScreen />
        <RecentSignIn />
        <Toasts isShown={openDialogs.value === 0} />
      </Shell>
    );
  }
  return (
    <main class="start">
      <h1>{texts.product}</h1>
      {signOutError.value !== undefined ? (
        <ErrorState error={signOutError.value} text={texts.stillSignedIn} retry={signOut} />
      ) : startError.value !== undefined ? (
        <ErrorState error={startError.value} retry={start} />
      ) : (
        <Skeleton />
      )}
    </main>
  );
}

function CurrentScreen() {
  const { path } = place.value;
  const found = findScreen(path);
  const isAllowed = found && (found.screen.scopes.length === 0 || may(...found.screen.scopes));
  const address = path.join('/');
  useEffect(() => {
    document.title = `${found?.screen.title ?? texts.notFound.title} · ${texts.product}`;
  }, [found?.screen.title]);
  if (!found || !isAllowed) {
    return (
      <EmptyState title={texts.notFound.title}>
        <p>{texts.notFound.text}</p>
        <Button href={to('')}>{texts.notFound.action}</Button>
      </EmptyState>
    );
  }
  const { screen, params } = found;
  return (
    <ErrorBoundary key={address}>
      <screen.Component params={params} />
    </ErrorBoundary>
  );
}

/** A fault of one screen leaves the others usable. */
class ErrorBoundary extends Component<{ children: ComponentChildren }, { error: unknown }> {
  override state = { error: undefined };
  static override getDerivedStateFromError = (error: unknown) => ({ error });
  override render() {
    return this.state.error === undefined ? (
      this.props.children
    ) : (
      <ErrorState error={this.state.error} retry={() => location.reload()} />
    );
  }
}
