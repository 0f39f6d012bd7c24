import { Type } from 'typebox';
import type { RequestOrigin } from '../../kernel/context.ts';
import { ALL_SCOPES, type Scope } from '../../kernel/scopes.ts';
import type { Form } from '../../kernel/validation/form.ts';

export const scopeListSchema = (scopes: readonly Scope[]) =>
  Type.Array(Type.Unsafe<Scope>({ type: 'string', enum: [...scopes] }), {
    maxItems: 50,
    description: 'What it may do.',
    examples: [['invoices:read', 'invoices:write']],
  });

type ScopesForm = Form<{ scopes?: Scope[] }>;

/** Once each, in one order. Undefined where none were sent or they are at fault. */
export function readScopes(form: ScopesForm): Scope[] | undefined {
  const { scopes } = form.body;
  if (scopes === undefined || form.hasFault('scopes')) return undefined;
  if (scopes.length === 0) form.addFault('scopes', 'too_short', 'must name at least one scope');
  return ALL_SCOPES.filter((scope) => scopes.includes(scope));
}

/** Nobody gives what it does not have: else `manage` would be all scopes. `kept`: those that are there already. */
export function validateGrantable(
  form: ScopesForm,
  { scopes: own }: RequestOrigin,
  kept: readonly string[] = [],
): void {
  if (own === undefined || !Array.isArray(form.body.scopes)) return;
  for (const [i, scope] of form.body.scopes.entries()) {
    const field = `scopes[${i}]`;
    if (own.has(scope) || kept.includes(scope) || form.hasFault(field)) continue;
    form.addFault(field, 'not_allowed', `cannot be granted by a token that does not have it: ${scope}`);
  }
}
