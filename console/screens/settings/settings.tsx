import type { ComponentChildren, ComponentType } from 'preact';
import { useEffect } from 'preact/hooks';
import { go, place, to } from '../../navigation/place.ts';
import type { Screen } from '../../screens.ts';
import { may, type Scope } from '../../service/session.ts';
import { OwnAccount } from './account.tsx';
import { Advisers } from './advisers.tsx';
import { CompanySettings } from './company.tsx';
import { EventLog } from './events.tsx';
import { Keys } from './keys.tsx';
import { Lists } from './lists.tsx';
import { SecretDialog } from './secret.tsx';
import { StillWorkingDialog } from './still-working.tsx';
import { Template, Templates } from './templates.tsx';
import { text } from './texts.ts';
import { Users } from './users.tsx';
import { Deliveries, Webhooks } from './webhooks.tsx';

type Page = { path: string; title: string; scopes: readonly Scope[]; Component: Screen['Component'] };

/** The pages of the side list, in its order. */
const PAGES: readonly Page[] = [
  { path: 'account', title: text.pages.account, scopes: [], Component: OwnAccount },
  { path: 'company', title: text.pages.company, scopes: ['manage'], Component: CompanySettings },
  { path: 'users', title: text.pages.users, scopes: ['users'], Component: Users },
  { path: 'advisers', title: text.pages.advisers, scopes: ['manage'], Component: Advisers },
  { path: 'lists', title: text.pages.lists, scopes: ['manage'], Component: Lists },
  { path: 'messages', title: text.pages.templates, scopes: ['manage'], Component: Templates },
  { path: 'keys', title: text.pages.keys, scopes: ['manage'], Component: Keys },
  { path: 'webhooks', title: text.pages.webhooks, scopes: ['webhooks'], Component: Webhooks },
  { path: 'events', title: text.pages.events, scopes: ['events:read'], Component: EventLog },
];

const isAllowed = ({ scopes }: Page): boolean => scopes.length === 0 || may(...scopes);

const inFrame =
  (Component: Screen['Component']): ComponentType<{ params: Readonly<Record<string, string>> }> =>
  ({ params }) => (
    <Frame>
      <Component params={params} />
    </Frame>
  );

export const SETTINGS_SCREENS: readonly Screen[] = [
  {
    path: 'settings',
    title: text.title,
    scopes: [],
    nav: { icon: 'settings', key: 's' },
    Component: FirstPage,
  },
  ...[
    ...PAGES,
    { path: 'messages/:message', title: text.pages.templates, scopes: ['manage'] as const, Component: Template },
    {
      path: 'webhooks/:endpointId',
      title: text.webhooks.deliveries,
      scopes: ['webhooks'] as const,
      Component: Deliveries,
    },
  ].map((page) => ({ ...page, path: `settings/${page.path}`, Component: inFrame(page.Component) })),
];

/** Owners come for the company, others for themselves. */
function FirstPage() {
  const first = may('manage') ? 'company' : 'account';
  useEffect(() => go(to(`settings/${first}`), { replace: true }), [first]);
  return null;
}

function Frame({ children }: { children: ComponentChildren }) {
  const current = place.value.path[1];
  return (
    <div class="settings">
      <nav aria-label={text.title}>
        {PAGES.filter(isAllowed).map(({ path, title }) => (
          <a
            key={path}
            href={to(`settings/${path}`)}
            aria-current={path === current ? 'page' : undefined}
            ref={(link) => {
              // On a narrow screen the list scrolls sideways.
              if (path === current) link?.parentElement?.scrollTo({ left: link.offsetLeft - link.offsetWidth });
            }}
          >
            {title}
          </a>
        ))}
      </nav>
      <div class="settings-page">{children}</div>
      <SecretDialog />
      <StillWorkingDialog />
    </div>
  );
}
