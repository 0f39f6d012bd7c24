import { auditOrigin } from '../../../kernel/audit/audit-log.ts';
import type { Executor } from '../../../kernel/database/database.ts';
import { assertBelowLimit } from '../../../kernel/database/row-limit.ts';
import { invalidRequest, invalidState, notFound } from '../../../kernel/errors.ts';
import { newId } from '../../../kernel/ids.ts';
import type { Scope } from '../../../kernel/scopes.ts';
import type { Query } from '../../../kernel/sql/statement.ts';
import { toSql } from '../../../kernel/time/time.ts';
import { requireEmail } from '../../../kernel/validation/email.ts';
import { Form } from '../../../kernel/validation/form.ts';
import type { ListRequest, PageOfJson } from '../../../kernel/validation/paging.ts';
import { assertVisible } from '../../../kernel/validation/single-line.ts';
import type { CompanyContext } from '../../admin-context.ts';
import { readListPage } from '../../list.ts';
import { withCredentialLock } from '../credential-lock.ts';
import type { EndCredentialQuery } from '../descendants.schema.ts';
import { readKindsToEnd, withDescendants } from '../descendants.ts';
import { assertFewInvitations, type Delivery, inviteUser, resetFactors } from '../links/verbs.ts';
import { endAllSessions } from '../sessions/verbs.ts';
import { type Role, scopesOfRole } from './roles.ts';
import type { CreateUserBody, UserBody } from './schema.ts';
import * as sql from './statements.sql.ts';

export const listUsers = ({ db, company }: CompanyContext, request: ListRequest): Promise<PageOfJson> =>
  readListPage(db, sql.listUsers, { company_id: company.id }, request);

export const showUser = ({ db, company }: CompanyContext, id: string): Promise<string> =>
  requireUser(db, sql.showUser({ company_id: company.id, id }));

/** A user and the secret of the invitation, if it was not mailed. */
export type InvitedUser = { record: string; secret: string | undefined };

/** Creates a user in the state `invited`, with an invitation. */
export async function createUser(
  context: CompanyContext,
  form: Form<CreateUserBody>,
  delivery: Delivery = 'mail',
): Promise<InvitedUser> {
  const { company, credential } = context;
  const { body } = form;
  form.read('email', body.email, requireEmail);
  form.read('name', body.name, assertVisible);
  validateRole(form, context);
  const id = newId();
  return withCredentialLock(context, async (locked) => {
    await explainFaults(locked, form, { email: body.email, adviser_id: body.adviser_id });
    form.check();
    await assertBelowLimit(locked.db, sql.userLimit, { company_id: company.id });
    if (delivery === 'mail') await assertFewInvitations(locked);
    const record = await locked.db.queryJson(
      sql.insertUser({
        ...change(locked, id),
        email: body.email,
        name: body.name,
        role: body.role,
        adviser_id: body.adviser_id,
        created_by_type: credential?.type,
        created_by_id: credential?.id,
        created_by_name: credential?.name,
      }),
    );
    if (record === undefined) throw new Error('The user was not written, and no reason was found.');
    return { record, secret: await inviteUser(locked, id, delivery) };
  });
}

export async function updateUser(context: CompanyContext, id: string, form: Form<UserBody>): Promise<string> {
  const { body } = form;
  form.read('name', body.name, assertVisible);
  validateRole(form, context);
  return withCredentialLock(context, async (locked) => {
    const user = await explainFaults(locked, form, { id, adviser_id: body.adviser_id });
    form.check();
    if (body.role !== undefined && body.role !== 'owner') assertNotLastOwner(user, 'role');
    return requireUser(
      locked.db,
      sql.updateUser({
        ...change(locked, id),
        name: body.name,
        role: body.role,
        set_adviser: body.adviser_id !== undefined,
        adviser_id: body.adviser_id,
      }),
    );
  });
}

/** Accepts a user that was disabled before, so that the descendants can be ended later. */
export async function disableUser(
  context: CompanyContext,
  id: string,
  query: Form<EndCredentialQuery>,
): Promise<string> {
  const kinds = readKindsToEnd(query, context);
  if (!query.ok) await showUser(context, id);
  query.check();
  return withCredentialLock(context, async (locked) => {
    assertNotLastOwner(await explainFaults(locked, query, { id }), 'state');
    const record = await requireUser(locked.db, sql.disableUser(change(locked, id)));
    return withDescendants(locked, { type: 'user', id }, kinds, record);
  });
}

/** Invites a user again who has not accepted the first invitation. */
export const inviteUserAgain = (context: CompanyContext, id: string, delivery: Delivery): Promise<InvitedUser> =>
  withCredentialLock(context, async (locked) => {
    const { state } = await requireGrantableRole(locked, id);
    if (state !== 'invited')
      throw invalidState('state', 'the user can sign in already: reset the factors if they are lost');
    const secret = await inviteUser(locked, id, delivery);
    return { record: await showUser(locked, id), secret };
  });

/** Removes all ways to sign in, ends the sessions, and invites the user again. */
export const resetUserFactors = (context: CompanyContext, id: string, delivery: Delivery): Promise<InvitedUser> =>
  withCredentialLock(context, async (locked) => {
    const user = await requireGrantableRole(locked, id);
    if (user.state === 'disabled') throw invalidState('state', 'the user is disabled: enable the user first');
    // With a leaked key, the only person who could revoke it would be locked out.
    const isOperator = context.scopes === undefined;
    if (user.state === 'active' && !isOperator && context.credential?.id !== id) assertNotLastOwner(user, 'state');
    await resetFactors(locked, id);
    const secret = await inviteUser(locked, id, delivery);
    return { record: await showUser(locked, id), secret };
  });

/**
 * Ends every way to use the account, for an operator. The last owner is not disabled, because nobody could enable that
 * user again, but has to be invited anew.
 */
export const endUser = (context: CompanyContext, id: string): Promise<unknown> =>
  withCredentialLock(context, async (locked) => {
    const query = new Form<EndCredentialQuery>({});
    if (!isLastOwner(await explainFaults(locked, query, { id }))) return disableUser(locked, id, query);
    await resetFactors(locked, id);
    return endAllSessions(locked, id);
  });

/** Gives the role back, so the caller must have its scopes, as for giving it at first. */
export const enableUser = (context: CompanyContext, id: string): Promise<string> =>
  withCredentialLock(context, async (locked) => {
    const { state } = await requireGrantableRole(locked, id);
    const record = await requireUser(locked.db, sql.enableUser(change(locked, id)));
    // A sign-in that the end of the user had to wait for has begun a session that it did not see.
    if (state === 'disabled') await endAllSessions(locked, id);
    return record;
  });

/** Returns the user. Throws if the caller lacks a scope of the role, which the user could not get from it. */
async function requireGrantableRole(locked: CompanyContext, id: string): Promise<Explained> {
  const user = await explainFaults(locked, new Form({}), { id });
  const lacking = user.role === null ? [] : lackingScopes(user.role, locked);
  if (lacking.length > 0) throw invalidRequest([{ field: 'role', ...notGrantable(lacking) }]);
  return user;
}

/** A caller cannot give a role with scopes that it does not have itself, as it cannot grant them to a key. */
function validateRole(form: Form<{ role?: Role }>, context: CompanyContext): void {
  const { role } = form.body;
  if (role === undefined || form.hasFault('role')) return;
  const lacking = lackingScopes(role, context);
  const { code, message } = notGrantable(lacking);
  if (lacking.length > 0) form.addFault('role', code, message);
}

const lackingScopes = (role: Role, { scopes }: CompanyContext): Scope[] =>
  [...scopesOfRole(role)].filter((scope) => scopes !== undefined && !scopes.has(scope));

const notGrantable = (lacking: Scope[]) => ({
  code: 'not_allowed' as const,
  message: `cannot be given without having its scopes: ${lacking.join(', ')}`,
});

type Explained = { role: Role | null; state: string | null; has_other_owner: boolean };
type Explanation = Explained & { email_taken: boolean; adviser_found: boolean };

/** Adds the faults that only the database knows. Throws if `id` is not a user of the company. */
async function explainFaults<T>(
  { db, company }: CompanyContext,
  form: Form<T>,
  { id, email, adviser_id }: { id?: string; email?: string | undefined; adviser_id?: string | null | undefined },
): Promise<Explained> {
  const found = await db.queryFirst<Explanation>(
    sql.explain({
      company_id: company.id,
      id,
      email: form.hasFault('email') ? null : email,
      adviser_id: form.hasFault('adviser_id') ? null : adviser_id,
    }),
  );
  if (!found || (id !== undefined && found.role === null)) throw notFound('user');
  if (found.email_taken) form.addFault('email', 'taken', 'is already used by another user of the company');
  if (!found.adviser_found) form.addFault('adviser_id', 'unknown', 'is not an adviser of the company');
  return found;
}

const isLastOwner = ({ role, state, has_other_owner }: Explained): boolean =>
  role === 'owner' && state !== 'disabled' && !has_other_owner;

/** Without an owner, nobody could manage the users. */
function assertNotLastOwner(user: Explained, field: 'role' | 'state'): void {
  if (!isLastOwner(user)) return;
  throw invalidState(field, 'the last owner must stay: make another user an owner first');
}

const change = (context: CompanyContext, id: string) => ({
  company_id: context.company.id,
  id,
  now: toSql(context.clock()),
  origin: auditOrigin(context),
});

async function requireUser(db: Executor, query: Query): Promise<string> {
  const record = await db.queryJson(query);
  if (record === undefined) throw notFound('user');
  return record;
}
