import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { TSchema } from 'typebox';
import type { Services } from '../../../http/operation/operation.ts';
import { recordFailure, requireFewFailures } from '../../../http/plugins/auth-throttle.ts';
import { requirePlainBody } from '../../../http/plugins/authentication.ts';
import { FixedWindowCounter } from '../../../http/plugins/fixed-window-counter.ts';
import type { LimitRate } from '../../../http/plugins/rate-limit.ts';
import type { UnfinishedBodies } from '../../../http/plugins/unfinished-bodies.ts';
import { credentialsOf, FORM, type Parameters, parametersOf, readBasic } from './request.ts';
import { Granted, Refused, RevokeBody, Revoked, TokenBody } from './schema.ts';
import { authenticateClient, type Client, issueToken, Refusal, revokeToken } from './verbs.ts';

type Endpoint = {
  id: string;
  url: string;
  summary: string;
  description: string;
  body: TSchema;
  response: TSchema;
  handle: (client: Client, parameters: Parameters) => Promise<object>;
};

// A stranger's body is read before the client is known: it may be no larger than a token request can be.
const PUBLIC_BODY_LIMIT = 16 * 1024;

export type OAuthOptions = Services & {
  attempts: FixedWindowCounter;
  bodies: UnfinishedBodies;
  limitRate: LimitRate | undefined;
  tokenSeconds: number;
};

/** The two routes whose errors are RFC 6749's and not the service's own. */
export async function oauthRoutes(app: FastifyInstance, services: OAuthOptions): Promise<void> {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(['application/json', FORM], services.bodies.parser(PUBLIC_BODY_LIMIT));
  const unreadable = new FixedWindowCounter(services.clock);

  app.addHook('onRequest', async (request, reply) => {
    reply.headers({ 'cache-control': 'no-store', pragma: 'no-cache' });
    if (!readBasic(request.headers.authorization)) requireFewFailures(unreadable, request, reply);
    requirePlainBody(request, reply);
  });

  /**
   * Parsing what cannot be read costs the most, so it is refused beforehand when it comes often from an address. Clients
   * behind the same address still get through by HTTP Basic, which is judged without the body.
   */
  const readParameters = async (request: FastifyRequest, reply: FastifyReply): Promise<Parameters> => {
    try {
      requireFewFailures(unreadable, request, reply);
    } catch (error) {
      const basic = readBasic(request.headers.authorization);
      if (!basic) throw error;
      await authenticateClient(services, basic);
      reply.removeHeader('retry-after');
    }
    try {
      return parametersOf(request);
    } catch (error) {
      unreadable.add(request.ip);
      throw error;
    }
  };

  app.setErrorHandler((error: Error & { code?: string }, request, reply) => {
    if (error instanceof Refusal) return refuse(error, services.attempts, request, reply);
    if (error.code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') {
      const kind = new Refusal('invalid_request', `The Content-Type must be application/json or ${FORM}.`);
      return refuse(kind, services.attempts, request, reply);
    }
    if (error.code !== 'invalid_request') throw error;
    // A body that broke off, or a Host that is none: refused in the words of RFC 6749 like every other 400 here.
    return refuse(new Refusal('invalid_request', error.message), services.attempts, request, reply);
  });

  const serve = ({ id, url, summary, description, body, response, handle }: Endpoint) =>
    app.route({
      method: 'POST',
      url,
      config: { access: 'public' },
      schema: {
        operationId: id,
        tags: ['OAuth'],
        summary,
        description,
        security: [{ client: [] }, {}],
        consumes: ['application/json', FORM],
        body,
        response: { 200: response, 400: Refused, 401: Refused },
      },
      handler: async (request, reply: FastifyReply) => {
        const parameters = await readParameters(request, reply);
        const credentials = credentialsOf(request, parameters);
        if (!credentials) throw new Refusal('invalid_client', 'The client must send its id and its secret.');
        const client = await authenticateClient(services, credentials);
        services.limitRate?.(client.id, reply);
        return handle(client, parameters);
      },
    });

  serve({
    id: 'createAccessToken',
    url: '/oauth/token',
    summary: 'Get an access token',
    description:
      'OAuth 2.0 client credentials (RFC 6749). The client authenticates by HTTP Basic or in the body. The token works ' +
      'for `expires_in` seconds: one hour, unless the service is set up otherwise.',
    body: TokenBody,
    response: Granted,
    handle: async (client, parameters) => {
      const grant = parameters.get('grant_type');
      if (grant === undefined) throw new Refusal('invalid_request', 'The parameter grant_type is missing.');
      if (grant !== 'client_credentials') {
        throw new Refusal('unsupported_grant_type', 'The grant_type must be client_credentials.');
      }
      return issueToken(services, client, parameters.get('scope'));
    },
  });

  serve({
    id: 'revokeAccessToken',
    url: '/oauth/revoke',
    summary: 'Revoke an access token',
    description:
      'OAuth 2.0 token revocation (RFC 7009): it stops working within two seconds. A token that this client does not ' +
      'have is left as it is, and the answer is the same.',
    body: RevokeBody,
    response: Revoked,
    handle: async (client, parameters) => {
      const token = parameters.get('token');
      if (token === undefined) throw new Refusal('invalid_request', 'The parameter token is missing.');
      await revokeToken(services, client, token);
      return {};
    },
  });
}

function refuse(
  { code, message }: Refusal,
  attempts: FixedWindowCounter,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  if (code === 'invalid_client') {
    recordFailure(attempts, request, reply);
    reply.header('www-authenticate', 'Basic realm="case-records"');
  }
  return reply.status(code === 'invalid_client' ? 401 : 400).send({ error: code, error_description: message });
}
