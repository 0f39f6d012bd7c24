import Fastify, { type FastifyInstance } from 'fastify';

// Everything comes from here; a page that asked another host for anything would be refused by the browser.
const POLICY =
  "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; " +
  "img-src 'self' data:; font-src 'self' data:; connect-src 'self'; " +
  "frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

/** `/openapi.json`, and readable pages made of it at `/docs`. */
export async function apiPages(app: FastifyInstance): Promise<void> {
  const access = { config: { access: 'public' as const }, schema: { hide: true } };
  app.get('/openapi.json', access, async () => app.swagger());

  // Loading the pages takes 0.4 s and 40 MB: only a process that is asked for them pays that.
  let pages: Promise<FastifyInstance> | undefined;
  for (const url of ['/docs', '/docs/*']) {
    app.get(url, access, async (request, reply) => {
      pages ??= loadPages();
      const page = await (await pages).inject(request.url);
      reply.status(page.statusCode).headers({ 'content-security-policy': POLICY, 'referrer-policy': 'no-referrer' });
      for (const name of ['content-type', 'location']) if (page.headers[name]) reply.header(name, page.headers[name]);
      return page.rawPayload;
    });
  }
}

async function loadPages(): Promise<FastifyInstance> {
  const { default: scalar } = await import('@scalar/fastify-api-reference');
  const pages = Fastify();
  await pages.register(scalar, {
    routePrefix: '/docs',
    configuration: {
      url: '/openapi.json',
      title: 'Case Records',
      withDefaultFonts: false,
      telemetry: false,
      hideClientButton: true,
      showDeveloperTools: 'never',
      agent: { disabled: true },
      mcp: { disabled: true },
    },
  });
  return pages;
}
