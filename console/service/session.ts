import type { SignedIn } from '@case-records/client';
import { signal } from '@preact/signals';
import { background, SERVICE_URL, service } from './client.ts';
import { clearDrafts, keepDraftsOf } from './drafts.ts';
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

/** Loads who is signed in. A page without a session leads to the page on which people sign in. */
export async function startSession(): Promise<void> {
  const stored = sessionStorage.getItem(REMEMBERED);
  const remembered: SignedIn | undefined = stored === null ? undefined : JSON.parse(stored);
  if (remembered) begin(remembered);
  const { data } = await service.getSession();
  if (data.session.purpose === 'enrolment') return signInAgain();
  sessionStorage.setItem(REMEMBERED, JSON.stringify(data));
  keepDraftsOf(data.user.id);
  // Somebody else has signed in meanwhile, and must not see what the other person had typed.
  if (remembered && remembered.user.id !== data.user.id) location.reload();
  else begin(data);
}

function begin(data: SignedIn): void {
  signedIn.value = data;
  const { id, name, time_zone } = data.company;
  company.value = { ...company.value, id, name, timeZone: time_zone };
}

/** Amounts are shown with the currency as soon as it is known. Only an owner may read it. */
export async function loadCurrency(): Promise<void> {
  if (!may('manage')) return;
  const { data } = await service.getCompany();
  company.value = { ...company.value, currency: data.currency };
}

/** Asks when the session ends, without moving its end. */
export async function refreshSession(): Promise<void> {
  signedIn.value = (await background.getSession()).data;
}

/** Renews the end of the session, which every request moves. */
export async function renewSession(): Promise<void> {
  signedIn.value = (await service.getSession()).data;
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

export async function signOut(): Promise<void> {
  await service.signOut();
  sessionStorage.removeItem(REMEMBERED);
  clearDrafts();
  clearLoaded();
  location.assign(new URL('sign-in', SERVICE_URL));
}
