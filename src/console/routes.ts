import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type StaticContent, sendContent, staticContent } from '../http/openapi/static-content.ts';
import type { UnreadResponses } from '../http/plugins/unread-responses.ts';
import { NotFoundError } from '../kernel/errors.ts';
import { readConsoleFile } from './files.ts';
import { consolePage } from './page.ts';

const PAGE_HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; " +
    "trusted-types 'none'",
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
};
const REVALIDATED = { cacheControl: 'no-cache' };
const IMMUTABLE = { cacheControl: 'public, max-age=31536000, immutable' };

/** The deepest address of a screen has fewer segments below `/console/`. */
const MAX_DEPTH = 8;

/** Serves the console: its two files, and at every other address below `/console` the page that loads them. */
export async function consoleRoutes(
  app: FastifyInstance,
  { responses }: { responses: UnreadResponses },
): Promise<void> {
  const access = { config: { access: 'public' as const }, schema: { hide: true } };
  const [script, style] = await Promise.all([readConsoleFile('js'), readConsoleFile('css')]);
  const files = new Map([script, style].map(({ name, content }) => [name, content]));

  // A base element would spare the pages of each depth, but the policy forbids it.
  const pageBelow = (root: string): Promise<StaticContent> =>
    staticContent(
      'text/html; charset=utf-8',
      Buffer.from(consolePage(root, { script: script.name, style: style.name })),
    );
  const pages: Promise<StaticContent>[] = [];
  const sendPage = async (depth: number, request: FastifyRequest, reply: FastifyReply) => {
    pages[depth] ??= pageBelow('../'.repeat(depth));
    return sendContent(request, reply.headers(PAGE_HEADERS), await pages[depth], { ...REVALIDATED, responses });
  };

  app.get('/console', access, (request, reply) => sendPage(0, request, reply));
  app.get('/console/*', access, async (request, reply) => {
    const path = (request.params as { '*': string })['*'];
    const file = files.get(path);
    if (file) return sendContent(request, reply, file, { ...IMMUTABLE, responses });
    const depth = path.split('/').length;
    if (depth > MAX_DEPTH || /\.(?:js|css|map)$/.test(path)) {
      throw new NotFoundError('There is nothing at this address.');
    }
    return sendPage(depth, request, reply);
  });
}
