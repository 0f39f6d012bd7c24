import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Static, TSchema } from 'typebox';
import { formOf } from '../../../http/operation/body.ts';
import type { Services } from '../../../http/operation/operation.ts';
import { recordFailure } from '../../../http/plugins/auth-throttle.ts';
import { assertUncompressed } from '../../../http/plugins/authentication.ts';
import type { FixedWindowCounter } from '../../../http/plugins/fixed-window-counter.ts';
import {
  browserOf,
  canHavePasskeys,
  isLoopback,
  isLoopbackAddress,
  requireSite,
  type Site,
  type SiteOf,
  sessionCookies,
} from '../../../http/plugins/site.ts';
import type { UnfinishedBodies } from '../../../http/plugins/unfinished-bodies.ts';
import { RequestDatabase } from '../../../kernel/database/request-database.ts';
import { invalidRequest, SignInFailedError } from '../../../kernel/errors.ts';
import type { SecretBox } from '../../../kernel/secret-box.ts';
import type { Form } from '../../../kernel/validation/form.ts';
import type { Challenges } from '../passkeys/challenges.ts';
import { NoBody, PasskeyOptions, PasskeySignInBody } from '../passkeys/schema.ts';
import { requirePasskeySite, signInOptions, signInWithPasskey } from '../passkeys/verbs.ts';
import { SignedIn as SignedInRecord } from '../sessions/schema.ts';
import { showCurrent } from '../sessions/verbs.ts';
import { type Recoveries, signInWithLink } from './links.ts';
import { LinkBody, PasswordSignInBody, RecoveryBody, RecoveryRequested } from './schema.ts';
import { type SignedIn, type SignInContext, signInWithPassword } from './verbs.ts';

/** Strangers send these bodies, so they may not be larger than any valid one. */
const MAX_BODY_BYTES = 16 * 1024;

export type SignInServices = Services & {
  siteOf: SiteOf;
  secrets: SecretBox | undefined;
  bodies: UnfinishedBodies;
  challenges: Challenges;
  failures: FixedWindowCounter;
  recoveries: Recoveries;
};

type Endpoint<B extends TSchema> = {
  id: string;
  url: string;
  summary: string;
  description: string;
  body: B;
  response: TSchema;
  /** Returns the JSON of the response, or the session that begins. */
  handle: (
    context: SignInContext,
    form: Form<Static<B>>,
    site: Site,
    request: FastifyRequest,
  ) => Promise<string | SignedIn>;
};

/** What a person does who has not signed in yet. The responses say nothing about whether an account exists. */
export async function signInRoutes(app: FastifyInstance, services: SignInServices): Promise<void> {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', services.bodies.parser(MAX_BODY_BYTES));
  const contextOf = (request: FastifyRequest, site: Site): SignInContext => ({
    db: new RequestDatabase(services.db),
    clock: services.clock,
    secrets: services.secrets,
    requestId: request.id,
    ...browserOf(request, site),
  });

  app.addHook('onRequest', async (request, reply) => {
    reply.header('cache-control', 'no-store');
    // A page of another origin could otherwise sign a browser in as somebody else.
    requireSite(request, services.siteOf);
    assertUncompressed(request, reply);
  });

  app.setErrorHandler((error: Error & { code?: string }, request) => {
    if (error instanceof SignInFailedError) recordFailure(services.failures, request);
    if (error.code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') throw invalidRequest([NOT_JSON]);
    throw error;
  });

  const registerEndpoint = <B extends TSchema>(endpoint: Endpoint<B>) =>
    app.route({
      method: 'POST',
      url: endpoint.url,
      config: { access: 'public' },
      schema: {
        operationId: endpoint.id,
        tags: ['Sign-in'],
        summary: endpoint.summary,
        description: endpoint.description,
        security: [{}],
        body: endpoint.body,
        response: { 200: endpoint.response },
      },
      handler: async (request, reply: FastifyReply) => {
        const site = requireSite(request, services.siteOf);
        const context = contextOf(request, site);
        const answer = await endpoint.handle(context, formOf(endpoint.body, request.body), site, request);
        reply.header('content-type', 'application/json; charset=utf-8');
        if (typeof answer === 'string') return answer;
        const { company_id, user_id, started } = answer;
        request.log.info({ reqId: request.id, company: company_id, user: user_id }, 'signed in');
        reply.header('set-cookie', sessionCookies(site, started));
        return showCurrent(context, { company_id, user_id, id: started.id });
      },
    });

  registerEndpoint({
    id: 'signInWithPassword',
    url: '/sign-in/password',
    summary: 'Sign in with a password',
    description:
      'The password together with a one-time code or a recovery code. Sets the cookie of a new session; a session that ' +
      'the browser had before ends. The answer does not say which of the three is wrong.',
    body: PasswordSignInBody,
    response: SignedInRecord,
    handle: (context, form) => signInWithPassword(context, form),
  });

  registerEndpoint({
    id: 'preparePasskeySignIn',
    url: '/sign-in/passkey/options',
    summary: 'Begin to sign in with a passkey',
    description: 'Returns what the browser needs to ask for a passkey. No address is needed.',
    body: NoBody,
    response: PasskeyOptions,
    handle: (_context, _form, site) => {
      requirePasskeySite(canHavePasskeys(site));
      return signInOptions(services.challenges, site);
    },
  });

  registerEndpoint({
    id: 'signInWithPasskey',
    url: '/sign-in/passkey',
    summary: 'Sign in with a passkey',
    description:
      'Sets the cookie of a new session; a session that the browser had before ends. Each answer of a passkey is accepted ' +
      'once.',
    body: PasskeySignInBody,
    response: SignedInRecord,
    handle: (context, form, site) => signInWithPasskey(context, form, services.challenges, site),
  });

  registerEndpoint({
    id: 'signInWithLink',
    url: '/sign-in/link',
    summary: 'Use the link of an invitation or a recovery',
    description:
      'Begins a session that may only set up ways to sign in (`purpose` is `enrolment`); it becomes a full one when they ' +
      'are enough. The link works once. A link for recovery also needs a one-time code or a recovery code.',
    body: LinkBody,
    response: SignedInRecord,
    handle: (context, form, site, request) =>
      signInWithLink(context, form, { isLoopback: isLoopback(site) && isLoopbackAddress(request.callerAddress) }),
  });

  registerEndpoint({
    id: 'requestRecovery',
    url: '/sign-in/recovery',
    summary: 'Ask for a link to recover an account',
    description:
      'If the address has an account, a mail with a link goes to it. The answer is the same in any case, and comes before ' +
      'the account is looked for.',
    body: RecoveryBody,
    response: RecoveryRequested,
    handle: (context, form) => services.recoveries.request(context, form),
  });
}

const NOT_JSON = {
  field: 'Content-Type',
  code: 'not_allowed',
  message: 'the header Content-Type must be application/json',
} as const;
