const RESOURCES = ['address_book', 'interactions', 'invoices', 'appointments'] as const;

/** What a company can grant to its own clients and keys. */
export const COMPANY_SCOPES = [
  ...RESOURCES.flatMap((resource) => [`${resource}:read`, `${resource}:write`] as const),
  'events:read',
  'webhooks',
  'manage',
] as const;

/** `operator` reaches every company; only the command line grants it. */
export const ALL_SCOPES = [...COMPANY_SCOPES, 'operator'] as const;

export type Scope = (typeof ALL_SCOPES)[number];

/** What each allows, for the document. */
export const SCOPE_DESCRIPTIONS: Record<Scope, string> = {
  'address_book:read': 'Read address books.',
  'address_book:write': 'Create, change, delete and restore address book entries.',
  'interactions:read': 'Read interactions.',
  'interactions:write': 'Create, change, delete and restore interactions.',
  'invoices:read': 'Read invoices and their payments.',
  'invoices:write': 'Create, change, send and cancel invoices, record and reverse payments.',
  'appointments:read': 'Read appointments and their messages.',
  'appointments:write': 'Book, change, delete and restore appointments, say what became of them, send messages again.',
  'events:read': 'Read the history of every record, with everything that was ever written in it.',
  webhooks: 'Have everything that happens in the company sent to an address, together with `events:read`.',
  manage:
    'Change the company and its advisers, cases, customers, tags, clients and keys; disable the webhook endpoints of an ended credential.',
  operator: 'Set up companies and give them keys. No API client has it, only keys that the command line made.',
};
