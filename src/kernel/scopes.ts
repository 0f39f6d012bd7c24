const RESOURCES = ['address_book', 'interactions', 'invoices', 'appointments'] as const;

/** The scopes of the records of cases. */
export const RECORD_SCOPES = RESOURCES.flatMap((resource) => [`${resource}:read`, `${resource}:write`] as const);

const CASE_SCOPES = ['cases:read', 'cases:write'] as const;

/** The scopes that a company can grant to its own clients and keys. */
export const COMPANY_SCOPES = [...RECORD_SCOPES, ...CASE_SCOPES, 'events:read', 'webhooks', 'manage', 'users'] as const;

/** `operator` gives access to every company; only the command line grants it. */
export const ALL_SCOPES = [...COMPANY_SCOPES, 'operator'] as const;

export type Scope = (typeof ALL_SCOPES)[number];

/** What a credential with these scopes may do and grant: `manage` includes the cases and their customers. */
export const effectiveScopes = (scopes: readonly string[]): ReadonlySet<string> =>
  new Set(scopes.includes('manage') ? [...scopes, ...CASE_SCOPES] : scopes);

/** A scope, or several of which one is enough. */
export type Access = Scope | readonly Scope[];

/** `manage` includes the cases and their customers. */
export const CASE_ACCESS = {
  read: ['cases:read', 'manage'],
  write: ['cases:write', 'manage'],
} as const satisfies Record<string, Access>;

/** What each scope allows, for the API documentation. */
export const SCOPE_DESCRIPTIONS: Record<Scope, string> = {
  'address_book:read': 'Read address books.',
  'address_book:write': 'Create, change, delete and restore address book entries.',
  'interactions:read': 'Read interactions.',
  'interactions:write': 'Create, change, delete and restore interactions.',
  'invoices:read': 'Read invoices and their payments.',
  'invoices:write': 'Create, change, send and cancel invoices, record and reverse payments.',
  'appointments:read': 'Read appointments and their messages.',
  'appointments:write': 'Book, change, delete and restore appointments, record their outcome, send messages again.',
  'cases:read': 'Read cases and their customers, advisers and kinds of case.',
  'cases:write': 'Open and change cases; add, change, remove and restore their customers.',
  'events:read': 'Read the history of every record, including all earlier values.',
  webhooks: 'Have all events of the company sent to a URL; requires `events:read` as well.',
  manage:
    'Change the company and its advisers, cases, customers, tags, clients and keys; ' +
    'disable the webhook endpoints of an ended credential.',
  users: 'Invite people of the company, change their roles, disable them, end their sessions, reset their factors.',
  operator: 'Create companies and their keys. Only keys created on the command line have it, no API client.',
};
