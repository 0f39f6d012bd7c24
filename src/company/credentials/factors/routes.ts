import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type JsonResponse, registerOperation, type Services } from '../../../http/operation/operation.ts';
import { browserOf, requireSite, type SiteOf, sessionCookies } from '../../../http/plugins/site.ts';
import type { SecretBox } from '../../../kernel/secret-box.ts';
import { NO_STORE_HEADERS } from '../secrets.ts';
import { Account, CodeSetup, CodesBody, FactorsChanged as FactorsChangedRecord, PasswordBody } from './schema.ts';
import {
  type FactorRequest,
  type FactorsChanged,
  prepareCodes,
  removePassword,
  replaceRecoveryCodes,
  setCodes,
  setPassword,
  showAccount,
} from './verbs.ts';

export type FactorServices = Services & { siteOf: SiteOf; secrets: SecretBox | undefined };

const common = { extension: true, access: 'enrolment', tag: 'Account', params: {}, unstored: true } as const;
const write = { ...common, needsRecentSignIn: true, response: FactorsChangedRecord } as const;

/** Performs a change of factors, and sets the cookies of the session that it may begin. */
export async function withFactorRequest(
  request: FastifyRequest,
  { siteOf }: { siteOf: SiteOf },
  work: (request: FactorRequest) => Promise<FactorsChanged>,
): Promise<JsonResponse> {
  const site = requireSite(request, siteOf);
  const { json, started } = await work(browserOf(request, site));
  return { json, headers: NO_STORE_HEADERS, ...(started && { cookies: sessionCookies(site, started) }) };
}

/** The ways to sign in of the person who has signed in. */
export function factorRoutes(app: FastifyInstance, services: FactorServices): void {
  registerOperation(app, services, {
    ...common,
    id: 'getAccount',
    method: 'GET',
    path: '/account',
    summary: 'Get your account',
    description: 'The signed-in person and the ways to sign in that are set up.',
    response: Account,
    handle: (context) => showAccount(context),
  });

  registerOperation(app, services, {
    ...write,
    id: 'setPassword',
    method: 'PUT',
    path: '/account/password',
    summary: 'Set your password',
    description:
      '12 to 128 characters of any kind. Common passwords, and those that consist of the name, the email or the company, ' +
      'are refused. A password needs one-time codes beside it. Ends the other sessions.',
    body: PasswordBody,
    handle: (context, _params, form, request) =>
      withFactorRequest(request, services, (browser) => setPassword(context, form, browser)),
  });

  registerOperation(app, services, {
    ...write,
    id: 'removePassword',
    method: 'DELETE',
    path: '/account/password',
    summary: 'Remove your password and one-time codes',
    description: 'Only if there is a passkey. Ends the other sessions.',
    handle: (context, _params, _form, request) =>
      withFactorRequest(request, services, (browser) => removePassword(context, browser)),
  });

  registerOperation(app, services, {
    ...common,
    needsRecentSignIn: true,
    id: 'prepareOneTimeCodes',
    method: 'POST',
    path: '/account/one-time-codes/setup',
    summary: 'Begin to set up one-time codes',
    description: 'Returns a secret for an authenticator app. Send a code of the app to finish.',
    response: CodeSetup,
    handle: async (context) => ({ json: await prepareCodes(context, services.secrets), headers: NO_STORE_HEADERS }),
  });

  registerOperation(app, services, {
    ...write,
    id: 'setOneTimeCodes',
    method: 'PUT',
    path: '/account/one-time-codes',
    summary: 'Set up one-time codes',
    description: 'Replaces the authenticator app that was set up before. Ends the other sessions.',
    body: CodesBody,
    handle: (context, _params, form, request) =>
      withFactorRequest(request, services, (browser) => setCodes(context, form, services.secrets, browser)),
  });

  registerOperation(app, services, {
    ...write,
    id: 'createRecoveryCodes',
    method: 'POST',
    path: '/account/recovery-codes',
    summary: 'Create new recovery codes',
    description:
      'Replaces the ones so far. Each works once, instead of a lost factor. They are shown only in this answer.',
    handle: (context, _params, _form, request) =>
      withFactorRequest(request, services, (browser) => replaceRecoveryCodes(context, browser)),
  });
}
