import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { TSchema } from 'typebox';
import type { Services } from '../../../http/operation/operation.ts';
import { assertFewFailures, recordFailure } from '../../../http/plugins/auth-throttle.ts';
import { assertUncompressed } from '../../../http/plugins/authentication.ts';
import { FixedWindowCounter } from '../../../http/plugins/fixed-window-counter.ts';
import type { LimitRate } from '../../../http/plugins/rate-limit.ts';
import type { UnfinishedBodies } from '../../../http/plugins/unfinished-bodies.ts';
import { RequestDatabase } from '../../../kernel/database/request-database.ts';
import type { AdminContext } from '../../admin-context.ts';
import {
  FORM_CONTENT_TYPE,
  type Parameters,
  parseBasicAuth,
  parseParameters,
  readClientCredentials,
} from './request.ts';
import { OAuthErrorResponse, RevokeBody, RevokedResponse, TokenBody, TokenResponse } from './schema.ts';
import { authenticateClient, type Client, issueToken, OAuthError, revokeToken } from './verbs.ts';

type Endpoint = {
  id: string;
  url: string;
  summary: string;
  description: string;
  body: TSchema;
  response: TSchema;
  handle: (context: AdminContext, client: Client, parameters: Parameters) => Promise<object>;
};

// The body is read before the client is authenticated, so it may not be larger than any valid token request.
const MAX_BODY_BYTES = 16 * 1024;

type OAuthOptions = Services & {
  attempts: FixedWindowCounter;
  bodies: UnfinishedBodies;
  limitRate: LimitRate | undefined;
  tokenSeconds: number;
};

/** The two routes whose errors have the form of RFC 6749 instead of the service's own. */
export async function oauthRoutes(app: FastifyInstance, services: OAuthOptions): Promise<void> {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(['application/json', FORM_CONTENT_TYPE], services.bodies.parser(MAX_BODY_BYTES));
  const unreadableRequests = new FixedWindowCounter(services.clock);

  app.addHook('onRequest', async (request, reply) => {
    reply.headers({ 'cache-control': 'no-store', pragma: 'no-cache' });
    if (!parseBasicAuth(request.headers.authorization)) assertFewFailures(unreadableRequests, request);
    assertUncompressed(request, reply);
  });

  /**
   * Unreadable bodies cost the most to parse, so an address that sends many of them is rejected before parsing. Clients
   * behind the same address can still use HTTP Basic, which is checked without the body.
   */
  const readParameters = async (context: AdminContext, request: FastifyRequest): Promise<Parameters> => {
    try {
      assertFewFailures(unreadableRequests, request);
    } catch (error) {
      const basic = parseBasicAuth(request.headers.authorization);
      if (!basic) throw error;
      await authenticateClient(context, basic);
    }
    try {
      return parseParameters(request);
    } catch (error) {
      unreadableRequests.add(request.callerAddress);
      throw error;
    }
  };

  app.setErrorHandler((error: Error & { code?: string }, request, reply) => {
    if (error instanceof OAuthError) return sendOAuthError(error, services.attempts, request, reply);
    if (error.code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') {
      const kind = new OAuthError(
        'invalid_request',
        `The Content-Type must be application/json or ${FORM_CONTENT_TYPE}.`,
      );
      return sendOAuthError(kind, services.attempts, request, reply);
    }
    if (error.code !== 'invalid_request') throw error;
    // A truncated body or an invalid Host header: answered in the form of RFC 6749, like every other 400 here.
    return sendOAuthError(new OAuthError('invalid_request', error.message), services.attempts, request, reply);
  });

  const registerEndpoint = ({ id, url, summary, description, body, response, handle }: Endpoint) =>
    app.route({
      method: 'POST',
      url,
      config: { access: 'public' },
      schema: {
        operationId: id,
        tags: ['Access tokens'],
        summary,
        description,
        security: [{ client: [] }, {}],
        consumes: ['application/json', FORM_CONTENT_TYPE],
        body,
        response: { 200: response, 400: OAuthErrorResponse, 401: OAuthErrorResponse },
      },
      handler: async (request, reply: FastifyReply) => {
        const context = { db: new RequestDatabase(services.db), clock: services.clock };
        const parameters = await readParameters(context, request);
        const credentials = readClientCredentials(request, parameters);
        if (!credentials) throw new OAuthError('invalid_client', 'The client must send its id and its secret.');
        const client = await authenticateClient(context, credentials);
        services.limitRate?.(client.id, reply);
        return handle(context, client, parameters);
      },
    });

  registerEndpoint({
    id: 'createAccessToken',
    url: '/oauth/token',
    summary: 'Get an access token',
    description:
      'OAuth 2.0 client credentials (RFC 6749). The client authenticates by HTTP Basic or in the body. The token ' +
      'works for `expires_in` seconds: one hour, unless the service is configured otherwise.',
    body: TokenBody,
    response: TokenResponse,
    handle: async (context, client, parameters) => {
      const grant = parameters.get('grant_type');
      if (grant === undefined) throw new OAuthError('invalid_request', 'The parameter grant_type is missing.');
      if (grant !== 'client_credentials') {
        throw new OAuthError('unsupported_grant_type', 'The grant_type must be client_credentials.');
      }
      return issueToken({ ...context, tokenSeconds: services.tokenSeconds }, client, parameters.get('scope'));
    },
  });

  registerEndpoint({
    id: 'revokeAccessToken',
    url: '/oauth/revoke',
    summary: 'Revoke an access token',
    description:
      'OAuth 2.0 token revocation (RFC 7009). The token stops working within two seconds. A token of another client, ' +
      'or an unknown one, is ignored, and the answer is the same.',
    body: RevokeBody,
    response: RevokedResponse,
    handle: async (context, client, parameters) => {
      const token = parameters.get('token');
      if (token === undefined) throw new OAuthError('invalid_request', 'The parameter token is missing.');
      await revokeToken(context, client, token);
      return {};
    },
  });
}

function sendOAuthError(
  { code, message }: OAuthError,
  attempts: FixedWindowCounter,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  if (code === 'invalid_client') {
    recordFailure(attempts, request);
    reply.header('www-authenticate', 'Basic realm="case-records"');
  }
  return reply.status(code === 'invalid_client' ? 401 : 400).send({ error: code, error_description: message });
}
