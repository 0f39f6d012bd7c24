import type { FastifyInstance, FastifyRequest } from 'fastify';
import { registerOperation, type Services } from '../../../http/operation/operation.ts';
import { cookieHeader, type SiteOf } from '../../../http/plugins/site.ts';
import { SessionList, SessionsEnded, SignedIn } from './schema.ts';
import {
  endOtherSessions,
  endOwnSession,
  endSessionsOfUser,
  listOwnSessions,
  ownKeys,
  showCurrent,
  signOut,
} from './verbs.ts';

const common = { extension: true, access: 'user', tag: 'Sessions', params: {}, unstored: true } as const;

/** The session of the request, and the other sessions of the same person. */
export function sessionRoutes(app: FastifyInstance, services: Services & { siteOf: SiteOf }): void {
  const clearedCookie = (request: FastifyRequest): Record<string, string> => {
    const site = services.siteOf(request);
    return site ? { 'set-cookie': cookieHeader(site, site.cookies.session, '', 0) } : {};
  };

  registerOperation(app, services, {
    ...common,
    access: 'enrolment',
    id: 'getSession',
    method: 'GET',
    path: '/session',
    summary: 'Get the session',
    description: 'Who is signed in, what that person may do, and when the session ends.',
    response: SignedIn,
    handle: (context) => showCurrent(context, ownKeys(context)),
  });

  registerOperation(app, services, {
    ...common,
    access: 'enrolment',
    id: 'signOut',
    method: 'DELETE',
    path: '/session',
    summary: 'Sign out',
    description: 'Ends the session and removes its cookie. The session stops working within two seconds.',
    response: SessionsEnded,
    handle: async (context, _params, _form, request) => ({
      json: await signOut(context),
      headers: clearedCookie(request),
    }),
  });

  registerOperation(app, services, {
    ...common,
    id: 'listOwnSessions',
    method: 'GET',
    path: '/account/sessions',
    summary: 'List your sessions',
    description: 'The sessions of the signed-in person that work, newest first.',
    response: SessionList,
    handle: (context) => listOwnSessions(context),
  });

  registerOperation(app, services, {
    ...common,
    needsRecentSignIn: true,
    id: 'endOtherSessions',
    method: 'DELETE',
    path: '/account/sessions',
    summary: 'End your other sessions',
    description: 'Ends every session of the signed-in person except this one, within two seconds.',
    response: SessionsEnded,
    handle: (context) => endOtherSessions(context),
  });

  registerOperation(app, services, {
    ...common,
    needsRecentSignIn: true,
    id: 'endOwnSession',
    method: 'DELETE',
    path: '/account/sessions/{sessionId}',
    summary: 'End one of your sessions',
    description: 'The session stops working within two seconds.',
    params: { sessionId: 'session' },
    response: SessionsEnded,
    handle: (context, { sessionId }) => endOwnSession(context, sessionId),
  });

  registerOperation(app, services, {
    ...common,
    unstored: false,
    access: 'users',
    needsRecentSignIn: true,
    tag: 'Users',
    id: 'endUserSessions',
    method: 'DELETE',
    path: '/manage/users/{userId}/sessions',
    summary: 'End the sessions of a user',
    description: 'The user is signed out everywhere within two seconds, and can sign in again.',
    params: { userId: 'user' },
    response: SessionsEnded,
    handle: (context, { userId }) => endSessionsOfUser(context, userId),
  });
}
