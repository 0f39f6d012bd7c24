import type { ComponentType } from 'preact';
import { CaseScreen } from './screens/case/case.tsx';
import { CasesScreen } from './screens/cases/cases.tsx';
import { DiaryScreen } from './screens/diary/diary.tsx';
import { InvoicesScreen } from './screens/invoices/invoices.tsx';
import { MessagesScreen } from './screens/messages/messages.tsx';
import { SearchScreen } from './screens/search/search.tsx';
import { SETTINGS_SCREENS } from './screens/settings/settings.tsx';
import { TodayScreen } from './screens/today.tsx';
import type { Scope } from './service/session.ts';

export type Screen = {
  /** The address below `/console/`; a segment with a colon is a parameter. */
  path: string;
  title: string;
  /** The role needs one of these scopes. None: every role. */
  scopes: readonly Scope[];
  /** The icon in the navigation, and the key after `g`. Screens without it are reached from others. */
  nav?: { icon: string; key: string };
  Component: ComponentType<{ params: Readonly<Record<string, string>> }>;
};

/** Every screen, in the order of the navigation. */
export const SCREENS: readonly Screen[] = [
  { path: '', title: 'Today', scopes: [], nav: { icon: 'today', key: 't' }, Component: TodayScreen },
  {
    path: 'cases',
    title: 'Cases',
    scopes: ['cases:read', 'manage'],
    nav: { icon: 'case', key: 'c' },
    Component: CasesScreen,
  },
  { path: 'cases/:caseId', title: 'Case', scopes: ['cases:read', 'manage'], Component: CaseScreen },
  {
    path: 'diary',
    title: 'Diary',
    scopes: ['appointments:read'],
    nav: { icon: 'appointment', key: 'd' },
    Component: DiaryScreen,
  },
  {
    path: 'invoices',
    title: 'Invoices',
    scopes: ['invoices:read'],
    nav: { icon: 'invoice', key: 'i' },
    Component: InvoicesScreen,
  },
  {
    path: 'messages',
    title: 'Messages',
    scopes: ['appointments:read'],
    nav: { icon: 'message', key: 'm' },
    Component: MessagesScreen,
  },
  { path: 'search', title: 'Search', scopes: [], Component: SearchScreen },
  ...SETTINGS_SCREENS,
];

/** Returns the screen of a path and the parameters in it. */
export function findScreen(path: readonly string[]) {
  for (const screen of SCREENS) {
    const segments = screen.path.split('/').filter(Boolean);
    if (segments.length !== path.length) continue;
    if (!segments.every((segment, i) => segment.startsWith(':') || segment === path[i])) continue;
    const params = Object.fromEntries(
      segments.flatMap((segment, i) => (segment.startsWith(':') ? [[segment.slice(1), path[i] ?? '']] : [])),
    );
    return { screen, params };
  }
  return undefined;
}
