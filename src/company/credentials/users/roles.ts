import { COMPANY_SCOPES, RECORD_SCOPES, type Scope } from '../../../kernel/scopes.ts';

export const ROLES = ['owner', 'adviser', 'bookkeeper', 'reader'] as const;
export type Role = (typeof ROLES)[number];

const READ_SCOPES = COMPANY_SCOPES.filter((scope) => scope.endsWith(':read'));

const SCOPES_OF_ROLE: Record<Role, ReadonlySet<Scope>> = {
  owner: new Set(COMPANY_SCOPES),
  adviser: new Set([...RECORD_SCOPES, ...READ_SCOPES, 'cases:write' as const]),
  bookkeeper: new Set([...READ_SCOPES, 'invoices:write' as const]),
  reader: new Set(READ_SCOPES),
};

/** What a person with the role may do. The same set for every caller, so that it is built once. */
export const scopesOfRole = (role: Role): ReadonlySet<Scope> => SCOPES_OF_ROLE[role];
