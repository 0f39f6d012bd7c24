import type { FastifyInstance } from 'fastify';
import { registerOperation, type Services } from '../../../http/operation/operation.ts';
import { respondWithList } from '../../../http/operation/paging.ts';
import { readForm } from '../../../kernel/validation/form.ts';
import { ListQuery } from '../../../kernel/validation/paging.ts';
import { lockCredentials } from '../credential-lock.ts';
import { EndCredentialQuery } from '../descendants.schema.ts';
import { CreateUserBody, UserBody, UserDisabled, UserList, UserRecord } from './schema.ts';
import {
  createUser,
  disableUser,
  enableUser,
  inviteUserAgain,
  listUsers,
  resetUserFactors,
  showUser,
  updateUser,
} from './verbs.ts';

const common = { extension: true, access: 'users', tag: 'Users' } as const;
const collection = '/manage/users';
const item = `${collection}/{userId}`;

export function userRoutes(app: FastifyInstance, services: Services): void {
  registerOperation(app, services, {
    ...common,
    id: 'listUsers',
    method: 'GET',
    path: collection,
    summary: 'List users',
    description: 'Ordered by name, including disabled users. `search` matches the name and the email.',
    params: {},
    query: ListQuery,
    response: UserList,
    handle: (context, _params, _form, request) => respondWithList(request, (listing) => listUsers(context, listing)),
  });

  registerOperation(app, services, {
    ...common,
    needsRecentSignIn: true,
    id: 'createUser',
    method: 'POST',
    path: collection,
    summary: 'Invite a user',
    description:
      'A person of the company. A mail with a link goes to the address; the link works once, and for 72 hours. The caller ' +
      'can give only a role whose scopes it has itself.',
    params: {},
    body: CreateUserBody,
    response: UserRecord,
    handle: async (context, _params, form) => (await createUser(context, form)).record,
  });

  registerOperation(app, services, {
    ...common,
    id: 'getUser',
    method: 'GET',
    path: item,
    summary: 'Get a user',
    description: 'One user of the company.',
    params: { userId: 'user' },
    response: UserRecord,
    record: { table: 'users', show: (context, { userId }) => showUser(context, userId), lock: lockCredentials },
    handle: (context, { userId }) => showUser(context, userId),
  });

  registerOperation(app, services, {
    ...common,
    needsRecentSignIn: true,
    id: 'updateUser',
    method: 'PATCH',
    path: item,
    summary: 'Update a user',
    description:
      'Fields that are not sent stay unchanged. A changed role takes effect within two seconds, also for people who ' +
      'are signed in. The last owner of a company keeps the role.',
    params: { userId: 'user' },
    body: UserBody,
    response: UserRecord,
    handle: (context, { userId }, form) => updateUser(context, userId, form),
  });

  registerOperation(app, services, {
    ...common,
    needsRecentSignIn: true,
    id: 'disableUser',
    method: 'POST',
    path: `${item}/disable`,
    summary: 'Disable a user',
    description:
      'Takes effect within two seconds. The answer lists everything the user created that still works; `also` ends ' +
      'that too, in the same transaction. The last owner of a company cannot be disabled. Disabling a disabled user ' +
      'again gives the same answer.',
    params: { userId: 'user' },
    query: EndCredentialQuery,
    response: UserDisabled,
    handle: (context, { userId }, _form, request) =>
      disableUser(context, userId, readForm(EndCredentialQuery, request.query)),
  });

  registerOperation(app, services, {
    ...common,
    needsRecentSignIn: true,
    id: 'enableUser',
    method: 'POST',
    path: `${item}/enable`,
    summary: 'Enable a user again',
    description: 'The user can sign in as before. Sessions that have ended stay ended.',
    params: { userId: 'user' },
    response: UserRecord,
    handle: (context, { userId }) => enableUser(context, userId),
  });

  registerOperation(app, services, {
    ...common,
    needsRecentSignIn: true,
    id: 'inviteUserAgain',
    method: 'POST',
    path: `${item}/invitation`,
    summary: 'Invite a user again',
    description:
      'Mails another link to a user who cannot sign in yet. The earlier one no longer works. Needs the scopes of the role.',
    params: { userId: 'user' },
    response: UserRecord,
    handle: async (context, { userId }) => (await inviteUserAgain(context, userId, 'mail')).record,
  });

  registerOperation(app, services, {
    ...common,
    needsRecentSignIn: true,
    id: 'resetUserFactors',
    method: 'POST',
    path: `${item}/reset-factors`,
    summary: 'Reset the ways to sign in of a user',
    description:
      'For a person who has lost them. Removes passkeys, password and codes, ends the sessions, and mails an invitation. ' +
      'Nobody but the person chooses the new ones. Needs the scopes of the role. Refused for the last owner who can ' +
      'sign in, except by that owner.',
    params: { userId: 'user' },
    response: UserRecord,
    handle: async (context, { userId }) => (await resetUserFactors(context, userId, 'mail')).record,
  });
}
