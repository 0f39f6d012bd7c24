import type { FastifyInstance } from 'fastify';
import { NotFoundError } from '../../kernel/errors.ts';
import type { UnreadResponses } from '../plugins/unread-responses.ts';
import { ICON } from './icon.ts';
import { TOKEN_PATH } from './openapi.ts';
import { publicAddress } from './public-address.ts';
import { PAGE_HEADERS, referencePage } from './reference-page.ts';
import { referenceScript } from './reference-script.ts';
import { START_SCRIPT } from './reference-start.ts';
import { contentWithEnd, type StaticContent, sendContent, staticContent } from './static-content.ts';

const REVALIDATED = { cacheControl: 'no-cache' };
const IMMUTABLE = { cacheControl: 'public, max-age=31536000, immutable' };
const FOR_A_DAY = { cacheControl: 'public, max-age=86400' };

type Pages = { pages: Record<string, StaticContent>; scripts: Map<string, StaticContent> };

type Document = {
  components: { securitySchemes: { oauth2: { flows: { clientCredentials: object } } } };
};

type DocsPagesOptions = { docs: boolean; publicUrl: string | undefined; responses: UnreadResponses };

/** Serves `/openapi.json`, the icon and, if `docs` is true, a readable reference at `/docs`. */
export async function docsPages(app: FastifyInstance, { docs, publicUrl, responses }: DocsPagesOptions): Promise<void> {
  const access = { config: { access: 'public' as const }, schema: { hide: true } };

  const document = createOnce(() => createDocument(app.swagger() as object as Document));
  app.get('/openapi.json', access, async (request, reply) => {
    const content = (await document())(publicAddress(request, publicUrl));
    return sendContent(request, reply, content, { ...REVALIDATED, responses });
  });
  const icon = createOnce(() => staticContent('image/svg+xml', Buffer.from(ICON)));
  // Browsers ask for the second one on pages that name no icon, such as JSON.
  for (const url of ['/favicon.svg', '/favicon.ico']) {
    app.get(url, access, async (request, reply) =>
      sendContent(request, reply, await icon(), { ...FOR_A_DAY, responses }),
    );
  }
  if (!docs) return;

  const files = createOnce(createPages);
  for (const url of ['/docs', '/docs/']) {
    app.get(url, access, async (request, reply) => {
      const page = (await files()).pages[url] as StaticContent;
      return sendContent(request, reply.headers(PAGE_HEADERS), page, { ...REVALIDATED, responses });
    });
  }
  app.get('/docs/:file', access, async (request, reply) => {
    const script = (await files()).scripts.get((request.params as { file: string }).file);
    if (!script) throw new NotFoundError('There is nothing at this address.');
    return sendContent(request, reply, script, { ...IMMUTABLE, responses });
  });
}

/** The address of the service differs between requests, so the parts that name it are the end of the document. */
async function createDocument(document: Document): Promise<(address: string) => StaticContent> {
  const { components, ...others } = document;
  const { securitySchemes, ...shared } = components;
  const start = JSON.stringify({ ...others, components: shared }).slice(0, -2);
  const withEnd = await contentWithEnd('application/json; charset=utf-8', Buffer.from(start));
  return (address) => {
    const { oauth2 } = securitySchemes;
    const clientCredentials = { ...oauth2.flows.clientCredentials, tokenUrl: address + TOKEN_PATH };
    const schemes = JSON.stringify({ ...securitySchemes, oauth2: { ...oauth2, flows: { clientCredentials } } });
    return withEnd(`,"securitySchemes":${schemes}},"servers":${JSON.stringify([{ url: address || '/' }])}}`);
  };
}

async function createPages(): Promise<Pages> {
  const scripts = new Map<string, StaticContent>();
  for (const [name, bytes] of [
    ['reference', await referenceScript()],
    ['start', Buffer.from(START_SCRIPT)],
  ] as const) {
    const script = await staticContent('text/javascript; charset=utf-8', bytes);
    scripts.set(`${name}.${script.hash}.js`, script);
  }
  const pageAt = (root: string) =>
    staticContent('text/html; charset=utf-8', Buffer.from(referencePage({ root, scripts: [...scripts.keys()] })));
  return { pages: { '/docs': await pageAt(''), '/docs/': await pageAt('../') }, scripts };
}

/** Returns a function that creates the value at its first call, and again only after a failure. */
function createOnce<T>(create: () => Promise<T>): () => Promise<T> {
  let created: Promise<T> | undefined;
  return () => {
    created ??= create().catch((error) => {
      created = undefined;
      throw error;
    });
    return created;
  };
}
