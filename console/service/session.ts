import type { SignedIn } from '@case-records/client';
import { signal } from '@preact/signals';
import { background, hasSessionEnded, SERVICE_URL, service } from './client.ts';
import { clearDrafts, keepDraftsOf } from './drafts.ts';
import { followEvents, ofRecords, onChanges } from './following.ts';
import { clearLoaded } from './loading.ts';

/** What the whole console shows times and amounts with. */
export type CompanySettings = { id: string; name: string; timeZone: string; currency: string | null };

export const signedIn = signal<SignedIn | undefined>(undefined);
export const company = signal<CompanySettings>({ id: '', name: '', timeZone: 'UTC', currency: null });

export type Scope = SignedIn['scopes'][number];

/** Whether the role of the person has one of the scopes. */
export const may = (...scopes: Scope[]): boolean => scopes.some((scope) => signedIn.value?.scopes.includes(scope));

/** Who was signed in before a reload. The page begins with it and asks the service at the same time. */
const REMEMBERED = 'signed-in';
/** The person of the session, for the other tabs: all tabs of a browser have one session. */
const PERSON = 'person';

/** Loads who is signed in. A page without a session leads to the page on which people sign in. */
export async function startSession(): Promise<void> {
  const stored = sessionStorage.getItem(REMEMBERED);
  if (stored !== null) show(JSON.parse(stored));
  const { data } = await service.getSession();
  if (data.session.purpose === 'enrolment') return signInAgain();
  begin(data);
}

/** Called with each answer of the service: the role, the zone or the person may be others than before. */
function begin(data: SignedIn): void {
  const known = signedIn.value?.user.id;
  if (known !== undefined && known !== data.user.id) {
    leave();
    return;
  }
  keepDraftsOf(data.user.id);
  sessionStorage.setItem(REMEMBERED, JSON.stringify(data));
  localStorage.setItem(PERSON, data.user.id);
  show(data);
}

function show(data: SignedIn): void {
  signedIn.value = data;
  const { id, name, time_zone, currency } = data.company;
  company.value = { id, name, timeZone: time_zone, currency };
  if (may('events:read')) followEvents();
}

/** Somebody else has signed in, and must not see what this person saw and typed. The page begins with the new session. */
function leave(): void {
  sessionStorage.removeItem(REMEMBERED);
  location.reload();
}

/** Follows what other tabs and colleagues do with the session, the user and the company. */
export function followSession(): void {
  addEventListener('storage', ({ key, newValue }) => {
    const known = signedIn.value?.user.id;
    if (key !== PERSON || known === undefined || newValue === known) return;
    if (newValue === null) clearDrafts();
    leave();
  });
  onChanges((changes) => {
    if (changes.some(ofRecords('company', 'user'))) refreshSession().catch(() => {});
  });
}

/** Asks when the session ends, without moving its end. */
export async function refreshSession(): Promise<void> {
  begin((await background.getSession()).data);
}

/** Renews the end of the session, which every request moves. */
export async function renewSession(): Promise<void> {
  begin((await service.getSession()).data);
}

/**
 * Leads to the page on which people sign in, and from there back to the same address. `again` asks a person who has
 * signed in to do so again, `account` to choose how to sign in.
 */
export function signInAgain(...parameters: ('again' | 'account')[]): void {
  sessionStorage.removeItem(REMEMBERED);
  const { pathname, search } = location;
  const target = new URL('sign-in', SERVICE_URL);
  for (const name of parameters) target.searchParams.set(name, '');
  target.searchParams.set('next', pathname + search);
  location.assign(target);
}

/** Why the person is still signed in after all. */
export const signOutError = signal<unknown>(undefined);

/** Nothing of the person stays on the screen or in the tab, even if the service cannot be told. */
export async function signOut(): Promise<void> {
  sessionStorage.removeItem(REMEMBERED);
  clearDrafts();
  clearLoaded();
  signedIn.value = undefined;
  signOutError.value = undefined;
  try {
    await service.signOut();
  } catch (error) {
    if (!hasSessionEnded.value) {
      signOutError.value = error;
      return;
    }
  }
  localStorage.removeItem(PERSON);
  location.assign(new URL('sign-in', SERVICE_URL));
}
