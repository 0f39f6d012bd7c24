import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Button } from '../components/button.tsx';
import { Icon } from '../components/icon.tsx';
import { formatTime, isOtherZone } from '../components/time.ts';
import { SCREENS, type Screen } from '../screens.ts';
import { hasSessionEnded, isOffline } from '../service/client.ts';
import { company, may, refreshSession, renewSession, signedIn, signInAgain, signOut } from '../service/session.ts';
import { texts } from '../texts.ts';
import { useKeys } from './keys.ts';
import { KeysDialog } from './keys-dialog.tsx';
import { Palette } from './palette.tsx';
import { go, place, to } from './place.ts';
import { setTheme, THEMES, theme } from './theme.ts';

type Open = 'palette' | 'keys' | undefined;
const open = signal<Open>(undefined);

const openPalette = (): void => {
  open.value = 'palette';
};

const mayOpen = ({ scopes }: Screen): boolean => scopes.length === 0 || may(...scopes);

/** What surrounds every screen: the navigation, the search, and what concerns the whole console. */
export function Shell({ children }: { children: ComponentChildren }) {
  const main = useRef<HTMLElement>(null);
  const items = SCREENS.filter((screen) => screen.nav && mayOpen(screen));
  const address = place.value.path.join('/');
  useKeys([
    { keys: '/', label: texts.palette.title, run: openPalette },
    { keys: 'ctrl+k', label: texts.palette.title, run: openPalette },
    {
      keys: '?',
      label: texts.keysDialog.title,
      run: () => {
        open.value = 'keys';
      },
    },
    ...items.map(({ path, title, nav }) => ({
      keys: `g ${nav?.key}`,
      label: texts.goTo(title),
      run: () => go(to(path)),
    })),
  ]);
  const shown = useRef(address);
  // After a step to another screen a screen reader begins there, as after loading a page.
  useEffect(() => {
    if (shown.current === address) return;
    shown.current = address;
    scrollTo(0, 0);
    main.current?.focus({ preventScroll: true });
  }, [address]);
  const close = () => {
    open.value = undefined;
  };
  return (
    <>
      <a class="skip" href="#main" target="_self">
        {texts.skip}
      </a>
      <header class="top">
        <a class="brand" href={to('')}>
          <Icon name="case" />
          <span>{company.value.name}</span>
        </a>
        <button type="button" class="search-button" aria-keyshortcuts="/ Control+K" onClick={openPalette}>
          <Icon name="search" />
          <span>{texts.nav.searchHint}</span>
          <kbd>/</kbd>
        </button>
        <You />
      </header>
      <nav class="side" aria-label={texts.nav.label}>
        {items.map(({ path, title, nav }) => (
          <a key={path} href={to(path)} aria-current={isWithin(address, path) ? 'page' : undefined}>
            <Icon name={nav?.icon ?? ''} />
            <span>{title}</span>
          </a>
        ))}
      </nav>
      <main id="main" tabIndex={-1} ref={main}>
        <Bars />
        {children}
      </main>
      {open.value === 'palette' && <Palette onClose={close} />}
      {open.value === 'keys' && <KeysDialog onClose={close} />}
    </>
  );
}

const isWithin = (address: string, path: string): boolean =>
  path === '' ? address === '' : address === path || address.startsWith(`${path}/`);

/** The person, the colours, and the way out. */
function You() {
  const { user } = signedIn.value ?? {};
  return (
    <div class="you">
      <button type="button" class="icon-button" popovertarget="you">
        <span class="initials">{initialsOf(user?.name ?? '')}</span>
        <span class="visually-hidden">{user?.name}</span>
      </button>
      <div id="you" popover="auto">
        <p>
          <strong>{user?.name}</strong>
          <small>
            {user?.email} · {user?.role}
          </small>
        </p>
        <fieldset class="themes">
          <legend>{texts.theme.label}</legend>
          {THEMES.map((one) => (
            <label key={one}>
              <input type="radio" name="theme" checked={theme.value === one} onChange={() => setTheme(one)} />
              {texts.theme[one]}
            </label>
          ))}
        </fieldset>
        <Button
          onClick={() => {
            open.value = 'keys';
          }}
        >
          {texts.nav.keys} <kbd>?</kbd>
        </Button>
        <Button onClick={signOut}>{texts.nav.signOut}</Button>
      </div>
    </div>
  );
}

const initialsOf = (name: string): string =>
  name
    .split(/\s+/)
    .map((word) => word.charAt(0))
    .slice(0, 2)
    .join('');

const WARNING_MS = 3 * 60_000;
const CHECK_INTERVAL_MS = 15_000;
const endsSoon = signal(false);
const endsIn = (): number => Date.parse(signedIn.value?.session.expires_at ?? '') - Date.now();

/** What concerns every screen: no connection, a session that ends, a zone that is not that of the browser. */
function Bars() {
  useEffect(() => {
    const timer = setInterval(async () => {
      // Every request of the person has moved the end, so it is asked for before somebody is warned.
      if (endsIn() < WARNING_MS && !hasSessionEnded.value) await refreshSession().catch(() => {});
      endsSoon.value = endsIn() < WARNING_MS;
    }, CHECK_INTERVAL_MS);
    return () => clearInterval(timer);
  }, []);
  const { timeZone } = company.value;
  const renew = () =>
    renewSession().then(
      () => {
        endsSoon.value = false;
      },
      () => {},
    );
  return (
    <div class="bars" aria-live="polite">
      {hasSessionEnded.value && (
        <p class="bar bad">
          <strong>{texts.sessionEnded.title}.</strong> {texts.sessionEnded.text}
          <Button kind="primary" onClick={() => signInAgain()}>
            {texts.sessionEnded.action}
          </Button>
        </p>
      )}
      {isOffline.value && <p class="bar warning">{texts.offline}</p>}
      {endsSoon.value && !hasSessionEnded.value && (
        <p class="bar info">
          {texts.sessionEnding(formatTime(signedIn.value?.session.expires_at ?? '', timeZone))}
          <Button onClick={renew}>{texts.staySignedIn}</Button>
        </p>
      )}
      {isOtherZone(timeZone) && <p class="zone">{texts.zone(timeZone)}</p>}
    </div>
  );
}
