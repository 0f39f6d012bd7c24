import type { FastifyInstance } from 'fastify';
import { acceptWeights } from '../accept-weights.ts';
import { publicAddress } from '../openapi/public-address.ts';
import type { ReadinessCheck } from './health.ts';

const DESCRIPTION =
  'Records of client cases over JSON and HTTP: address book, interactions, invoices and appointments.';

type Page = { name: string; path: string };

const PAGES: readonly Page[] = [
  { name: 'console', path: 'console' },
  { name: 'docs', path: 'docs' },
  { name: 'openapi', path: 'openapi.json' },
  { name: 'health', path: 'healthz' },
  { name: 'readiness', path: 'readyz' },
  { name: 'metrics', path: 'metrics' },
];

type HomePageOptions = {
  version: string;
  docs: boolean;
  publicUrl: string | undefined;
  isReady: ReadinessCheck;
};

/** `/`: leads a browser to the console, and tells a program what this service is. */
export function homePage(app: FastifyInstance, { version, docs, publicUrl, isReady }: HomePageOptions): void {
  // The sample proxies keep /metrics inside.
  const hidden = [...(docs ? [] : ['docs']), ...(publicUrl === undefined ? [] : ['metrics'])];
  const pages = PAGES.filter(({ name }) => !hidden.includes(name));
  app.get('/', { config: { access: 'public' }, schema: { hide: true } }, async (request, reply) => {
    const vary = [reply.getHeader('vary'), 'Accept'].filter(Boolean).join(', ');
    reply.headers({ vary, 'cache-control': CACHED_BRIEFLY });
    if (prefersHtml(request.headers.accept)) {
      // Relative, so that it works under any path.
      return reply.header('cache-control', 'no-cache').redirect('console', 302);
    }
    const status = (await isReady()) ? 'ready' : 'not ready';
    const root = publicAddress(request, publicUrl);
    const links = Object.fromEntries(pages.map(({ name, path }) => [name, `${root}/${path}`]));
    return { name: 'Case Records', description: DESCRIPTION, version, status, links };
  });
}

const CACHED_BRIEFLY = 'public, max-age=5';

/** RFC 9110, section 12.5.1. A program that names no type, or both with the same weight, gets JSON. */
function prefersHtml(accept: string | undefined): boolean {
  const weights = acceptWeights(accept);
  const weightOfJson = weights.get('application/json') ?? weights.get('application/*') ?? 0;
  return (weights.get('text/html') ?? 0) > weightOfJson;
}
