import type { FastifyInstance } from 'fastify';
import { NotFoundError } from '../../kernel/errors.ts';
import type { UnreadResponses } from '../plugins/unread-responses.ts';
import { PAGE_HEADERS, referencePage } from './reference-page.ts';
import { referenceScript } from './reference-script.ts';
import { type StaticContent, sendContent, staticContent } from './static-content.ts';

const REVALIDATED = { cacheControl: 'no-cache' };
const IMMUTABLE = { cacheControl: 'public, max-age=31536000, immutable' };

type Pages = { page: StaticContent; script: StaticContent; scriptPath: string };

type DocsPagesOptions = { docs: boolean; responses: UnreadResponses };

/** Serves `/openapi.json` and, if `docs` is true, a readable reference at `/docs`. */
export async function docsPages(app: FastifyInstance, { docs, responses }: DocsPagesOptions): Promise<void> {
  const access = { config: { access: 'public' as const }, schema: { hide: true } };

  const document = createOnce(() =>
    staticContent('application/json; charset=utf-8', Buffer.from(JSON.stringify(app.swagger()))),
  );
  app.get('/openapi.json', access, async (request, reply) =>
    sendContent(request, reply, await document(), { ...REVALIDATED, responses }),
  );
  if (!docs) return;

  const pages = createOnce(createPages);
  for (const url of ['/docs', '/docs/']) {
    app.get(url, access, async (request, reply) =>
      sendContent(request, reply.headers(PAGE_HEADERS), (await pages()).page, { ...REVALIDATED, responses }),
    );
  }
  app.get('/docs/:file', access, async (request, reply) => {
    const { script, scriptPath } = await pages();
    if (`/docs/${(request.params as { file: string }).file}` !== scriptPath) {
      throw new NotFoundError('There is nothing at this address.');
    }
    return sendContent(request, reply, script, { ...IMMUTABLE, responses });
  });
}

async function createPages(): Promise<Pages> {
  const script = await staticContent('text/javascript; charset=utf-8', await referenceScript());
  const scriptPath = `/docs/reference.${script.hash}.js`;
  return {
    page: await staticContent('text/html; charset=utf-8', Buffer.from(referencePage(scriptPath))),
    script,
    scriptPath,
  };
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
