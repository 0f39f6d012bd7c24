import type { RequestOrigin } from '../../kernel/context.ts';
import { ALL_SCOPES, type Scope } from '../../kernel/scopes.ts';
import type { Form } from '../../kernel/validation/form.ts';
import { Type } from '../../kernel/validation/type.ts';

export const scopeListSchema = (scopes: readonly Scope[]) =>
  Type.Array(
    Type.Unsafe<Scope>({ title: scopes === ALL_SCOPES ? 'Scope' : 'CompanyScope', type: 'string', enum: [...scopes] }),
    {
      maxItems: 50,
      description: 'The scopes of the credential.',
      examples: [['invoices:read', 'invoices:write']],
    },
  );

type ScopesForm = Form<{ scopes?: Scope[] }>;

/** Returns each sent scope once, in the order of ALL_SCOPES; undefined if none were sent or they have a fault. */
export function readScopes(form: ScopesForm): Scope[] | undefined {
  const { scopes } = form.body;
  if (scopes === undefined || form.hasFault('scopes')) return undefined;
  if (scopes.length === 0) form.addFault('scopes', 'too_short', 'must name at least one scope');
  return ALL_SCOPES.filter((scope) => scopes.includes(scope));
}

/**
 * Adds a fault for each scope that the caller does not have itself: otherwise `manage` would be as good as every scope.
 * Scopes in `kept` are allowed, because the credential already has them.
 */
export function validateGrantable(
  form: ScopesForm,
  { scopes: callerScopes }: RequestOrigin,
  kept: readonly string[] = [],
): void {
  if (callerScopes === undefined || !Array.isArray(form.body.scopes)) return;
  for (const [i, scope] of form.body.scopes.entries()) {
    const field = `scopes[${i}]`;
    if (callerScopes.has(scope) || kept.includes(scope) || form.hasFault(field)) continue;
    form.addFault(field, 'not_allowed', `cannot be granted by a token that does not have it: ${scope}`);
  }
}
