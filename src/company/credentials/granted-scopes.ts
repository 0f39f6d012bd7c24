import { Type } from 'typebox';
import type { Form } from '../../kernel/form.ts';
import { ALL_SCOPES, type Scope } from '../../kernel/scopes.ts';

export const scopesOf = (scopes: readonly Scope[]) =>
  Type.Array(Type.Unsafe<Scope>({ type: 'string', enum: [...scopes] }), {
    maxItems: 50,
    description: 'What it may do.',
    examples: [['invoices:read', 'invoices:write']],
  });

/** Once each, in one order. Undefined where none were sent or they are at fault. */
export function readScopes(form: Form<{ scopes?: Scope[] }>): Scope[] | undefined {
  const { scopes } = form.body;
  if (scopes === undefined || form.faulty('scopes')) return undefined;
  if (scopes.length === 0) form.fault('scopes', 'too_short', 'must name at least one scope');
  return ALL_SCOPES.filter((scope) => scopes.includes(scope));
}
