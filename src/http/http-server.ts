import { createServer, type RequestListener, type Server } from 'node:http';
import { sendRawProblem } from './operation/problems.ts';
import type { UnreadResponses } from './plugins/unread-responses.ts';

export type HttpServerOptions = {
  answers: UnreadResponses;
  maxConnections: number | undefined;
};

// A slow or silent peer must not hold a connection for ever. Of the two times for headers and for a whole request Node
// takes the longer one for the latter.
const TIMES = {
  headersTimeout: 30_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 30_000,
  connectionsCheckingInterval: 5_000,
};
const CONNECTION_TIMEOUT_MS = 60_000;
// What a connection holds of a body that is not read yet, and of an answer before its source has to wait.
const BUFFER_BYTES = 16 * 1024;

/** Makes the servers that Fastify listens with: one for each address of the host. */
export const httpServer =
  ({ answers, maxConnections }: HttpServerOptions) =>
  (handler: RequestListener): Server => {
    // A missing Host is judged in host-header.ts, so that its answer has the common form.
    const options = { ...TIMES, requireHostHeader: false, highWaterMark: BUFFER_BYTES };
    const server = createServer(options, (request, response) => {
      const outcome = answers.admit(request, response);
      if (outcome === 'refused') sendRawProblem(response, 'unavailable', PIPELINED);
      if (outcome !== 'admitted') return;
      request.url = originForm(request.url as string);
      handler(request, response);
    });
    // A plain close would leave the kernel with what the peer has not read.
    server.setTimeout(CONNECTION_TIMEOUT_MS, (socket) => socket.resetAndDestroy());
    if (maxConnections !== undefined) server.maxConnections = maxConnections;
    server.on('connection', (socket) => answers.opened(socket));
    return server;
  };

const PIPELINED = 'Too many requests came on this connection before the first was answered. Wait for answers.';

const AUTHORITY = /^https?:\/\/[^/?#]*/i;

/** RFC 9112, section 3.2.2: a request may name its whole address. Its host is not ours to repeat in links. */
function originForm(url: string): string {
  if (url.startsWith('/')) return url;
  const path = url.replace(AUTHORITY, '');
  return path.startsWith('?') || path === '' ? `/${path}` : path;
}
