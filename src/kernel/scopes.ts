const RESOURCES = ['address_book', 'interactions', 'invoices', 'appointments'] as const;

/** What a company can grant to its own clients and keys. */
export const COMPANY_SCOPES = [
  ...RESOURCES.flatMap((resource) => [`${resource}:read`, `${resource}:write`] as const),
  'manage',
] as const;

/** `operator` reaches every company; only the command line grants it. */
export const ALL_SCOPES = [...COMPANY_SCOPES, 'operator'] as const;

export type Scope = (typeof ALL_SCOPES)[number];
