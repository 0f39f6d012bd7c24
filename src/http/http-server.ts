import { createServer, type RequestListener, type Server } from 'node:http';
import { sendRawProblem } from './operation/problems.ts';
import type { UnreadResponses } from './plugins/unread-responses.ts';

type HttpServerOptions = {
  responses: UnreadResponses;
  maxConnections: number | undefined;
  /** The path that a proxy removes from the URLs of callers, such as `/records`. */
  publicPath: string;
};

// A slow or silent peer must not hold a connection for ever. Node applies the longer of the two timeouts for headers
// and for the whole request to the request.
const TIMEOUTS = {
  headersTimeout: 30_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 30_000,
  connectionsCheckingInterval: 5_000,
};
const CONNECTION_TIMEOUT_MS = 60_000;
// Buffered per connection: of a body that is not read yet, and of a response before its source has to wait.
const BUFFER_BYTES = 16 * 1024;

/** Creates the servers that Fastify listens with: one for each address of the host. */
export const httpServer =
  ({ responses, maxConnections, publicPath }: HttpServerOptions) =>
  (handler: RequestListener): Server => {
    // A missing Host header is rejected in host-header.ts, so that the response has the common form.
    const options = { ...TIMEOUTS, requireHostHeader: false, highWaterMark: BUFFER_BYTES };
    const server = createServer(options, (request, response) => {
      const outcome = responses.admit(request, response);
      if (outcome === 'refused') sendRawProblem(response, 'unavailable', PIPELINED);
      if (outcome !== 'admitted') return;
      request.url = originForm(request.url as string);
      // Fastify's `originalUrl`, from which links are made.
      if (publicPath !== '') Object.assign(request, { originalUrl: publicPath + request.url });
      handler(request, response);
    });
    // A plain close would leave the unread bytes in the kernel.
    server.setTimeout(CONNECTION_TIMEOUT_MS, (socket) => socket.resetAndDestroy());
    if (maxConnections !== undefined) server.maxConnections = maxConnections;
    server.on('connection', (socket) => responses.track(socket));
    return server;
  };

const PIPELINED = 'Too many requests were sent on this connection before the first response. Wait for responses.';

const AUTHORITY = /^https?:\/\/[^/?#]*/i;

/** RFC 9112, section 3.2.2: a request may name a whole URL. Its host is removed, so that links do not repeat it. */
function originForm(url: string): string {
  if (url.startsWith('/')) return url;
  const path = url.replace(AUTHORITY, '');
  return path.startsWith('?') || path === '' ? `/${path}` : path;
}
