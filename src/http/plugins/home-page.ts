import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { acceptWeights } from '../accept-weights.ts';
import { publicAddress } from '../openapi/public-address.ts';
import type { ReadinessCheck } from './health.ts';

const DESCRIPTION =
  'Records of client cases over JSON and HTTP: address book, interactions, invoices and appointments.';

type Page = { name: string; path: string; text: string };

const PAGES: readonly Page[] = [
  { name: 'docs', path: 'docs', text: 'API reference, with a button to try each operation' },
  { name: 'openapi', path: 'openapi.json', text: 'The same as an OpenAPI document' },
  { name: 'health', path: 'healthz', text: 'Whether the process responds' },
  { name: 'readiness', path: 'readyz', text: 'Whether it can serve requests' },
  { name: 'metrics', path: 'metrics', text: 'Metrics for Prometheus' },
];

type HomePageOptions = {
  version: string;
  docs: boolean;
  publicUrl: string | undefined;
  isReady: ReadinessCheck;
};

/** `/`: what this service is, for a person who opens its address in a browser and for a program. */
export function homePage(app: FastifyInstance, { version, docs, publicUrl, isReady }: HomePageOptions): void {
  // The sample proxies keep /metrics inside.
  const hidden = [...(docs ? [] : ['docs']), ...(publicUrl === undefined ? [] : ['metrics'])];
  const pages = PAGES.filter(({ name }) => !hidden.includes(name));
  app.get('/', { config: { access: 'public' }, schema: { hide: true } }, async (request, reply) => {
    const status = (await isReady()) ? 'ready' : 'not ready';
    const vary = [reply.getHeader('vary'), 'Accept'].filter(Boolean).join(', ');
    reply.headers({ vary, 'cache-control': CACHED_BRIEFLY });
    if (prefersHtml(request.headers.accept)) {
      return reply.headers(HTML_HEADERS).send(html({ version, status, pages }));
    }
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

const STYLE = `
:root { color-scheme: light dark; --text: #1c2626; --quiet: #5a6767; --line: #d9e0e0; --accent: #0f5c5c; --page: #fff; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e6eded; --quiet: #9aa8a8; --line: #2f3a3a; --accent: #6fc7c0; --page: #141a1a; }
}
body { margin: 0; padding: 12vh 1.5rem 2rem; background: var(--page); color: var(--text);
  font: 1rem/1.5 system-ui, sans-serif; }
main { max-width: 34rem; margin: 0 auto; }
img { width: 3rem; height: 3rem; }
h1 { margin: 1rem 0 .25rem; font-size: 1.75rem; line-height: 1.2; }
p { margin: 0 0 1.5rem; color: var(--quiet); }
.ready::before, .not-ready::before { content: ""; display: inline-block; width: .6rem; height: .6rem;
  margin-right: .5rem; border-radius: 50%; background: #2a9d5c; }
.not-ready::before { background: #c8442f; }
ul { margin: 0; padding: 0; list-style: none; border-top: 1px solid var(--line); }
li { display: flex; flex-wrap: wrap; gap: 0 1rem; padding: .75rem 0; border-bottom: 1px solid var(--line); }
a { flex: 0 0 8rem; color: var(--accent); font-weight: 600; }
li span { flex: 1 1 14rem; color: var(--quiet); }
`;

const HTML_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy':
    `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; img-src 'self'; ` +
    "frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  'referrer-policy': 'no-referrer',
};

type Content = { version: string; status: string; pages: readonly Page[] };

/** The links are relative, so that the page works under any path. */
const html = ({ version, status, pages }: Content): string => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Case Records</title>
    <link rel="icon" type="image/svg+xml" href="favicon.svg">
    <style>${STYLE}</style>
  </head>
  <body>
    <main>
      <img src="favicon.svg" alt="">
      <h1>Case Records</h1>
      <p>${DESCRIPTION}</p>
      <p class="${status.replace(' ', '-')}">Version ${version}, ${status}</p>
      <ul>
${pages.map(({ path, text }) => `        <li><a href="${path}">/${path}</a><span>${text}</span></li>`).join('\n')}
      </ul>
    </main>
  </body>
</html>
`;
