import type { SignedIn } from '@case-records/client';
import { signal } from '@preact/signals';
import { SERVICE_URL, service } from './client.ts';
import { clearDrafts, keepDraftsOf } from './drafts.ts';
import { clearLoaded } from './loading.ts';

/** What the whole console shows times and amounts with. */
export type CompanySettings = { id: string; name: string; timeZone: string; currency: string | null };

export const signedIn = signal<SignedIn | undefined>(undefined);
export const company = signal<CompanySettings>({ id: '', name: '', timeZone: 'UTC', currency: null });

export type Scope = SignedIn['scopes'][number];

/** Whether the role of the person has one of the scopes. */
export const may = (...scopes: Scope[]): boolean => scopes.some((scope) => signedIn.value?.scopes.includes(scope));

/** Loads who is signed in. A page without a session leads to the page on which people sign in. */
export async function startSession(): Promise<void> {
  const { data } = await service.getSession();
  if (data.session.purpose === 'enrolment') return signInAgain();
  keepDraftsOf(data.user.id);
  signedIn.value = data;
  company.value = { ...data.company, ...(await companySettings()) };
}

async function companySettings(): Promise<Omit<CompanySettings, 'id' | 'name'>> {
  if (may('manage')) {
    const { data } = await service.getCompany();
    return { timeZone: data.time_zone, currency: data.currency };
  }
  const { data } = await service.sumInvoices();
  return { timeZone: data.time_zone, currency: null };
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
  const { pathname, search } = location;
  const target = new URL('sign-in', SERVICE_URL);
  for (const name of parameters) target.searchParams.set(name, '');
  target.searchParams.set('next', pathname + search);
  location.assign(target);
}

export async function signOut(): Promise<void> {
  await service.signOut();
  clearDrafts();
  clearLoaded();
  location.assign(new URL('sign-in', SERVICE_URL));
}
