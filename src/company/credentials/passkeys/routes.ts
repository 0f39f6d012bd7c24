import type { FastifyInstance } from 'fastify';
import { registerOperation } from '../../../http/operation/operation.ts';
import { canHavePasskeys, requireSite } from '../../../http/plugins/site.ts';
import { type FactorServices, withFactorRequest } from '../factors/routes.ts';
import { FactorsChanged } from '../factors/schema.ts';
import { NO_STORE_HEADERS } from '../secrets.ts';
import type { Challenges } from './challenges.ts';
import { AddPasskeyBody, PasskeyOptions } from './schema.ts';
import { addPasskey, registrationOptions, removePasskey, requirePasskeySite } from './verbs.ts';

const common = {
  extension: true,
  access: 'enrolment',
  tag: 'Account',
  unstored: true,
  needsRecentSignIn: true,
} as const;

/** The passkeys of the person who has signed in. */
export function passkeyRoutes(app: FastifyInstance, services: FactorServices & { challenges: Challenges }): void {
  const { siteOf, challenges } = services;

  registerOperation(app, services, {
    ...common,
    id: 'preparePasskey',
    method: 'POST',
    path: '/account/passkeys/options',
    summary: 'Begin to add a passkey',
    description: 'Returns what the browser needs to create one.',
    params: {},
    response: PasskeyOptions,
    handle: async (context, _params, _form, request) => {
      const site = requireSite(request, siteOf);
      requirePasskeySite(canHavePasskeys(site));
      return { json: await registrationOptions(context, challenges, site), headers: NO_STORE_HEADERS };
    },
  });

  registerOperation(app, services, {
    ...common,
    id: 'addPasskey',
    method: 'POST',
    path: '/account/passkeys',
    summary: 'Add a passkey',
    description: 'A passkey alone is enough to sign in. Ends the other sessions. A person has at most 20.',
    params: {},
    body: AddPasskeyBody,
    response: FactorsChanged,
    handle: (context, _params, form, request) => {
      const site = requireSite(request, siteOf);
      return withFactorRequest(request, services, (browser) =>
        addPasskey(context, form, challenges, { site, request: browser }),
      );
    },
  });

  registerOperation(app, services, {
    ...common,
    id: 'removePasskey',
    method: 'DELETE',
    path: '/account/passkeys/{passkeyId}',
    summary: 'Remove a passkey',
    description: 'Only if another passkey or a password is left. Ends the other sessions.',
    params: { passkeyId: 'passkey' },
    response: FactorsChanged,
    handle: (context, { passkeyId }, _form, request) =>
      withFactorRequest(request, services, (browser) => removePasskey(context, passkeyId, browser)),
  });
}
