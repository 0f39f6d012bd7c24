import type { FastifyInstance } from 'fastify';
import { NotFoundError } from '../../kernel/errors.ts';
import type { UnreadResponses } from '../plugins/unread-responses.ts';
import { PAGE_HEADERS, referencePage } from './reference-page.ts';
import { referenceScript } from './reference-script.ts';
import { type StaticContent, sendContent, staticContent } from './static-content.ts';

const REVALIDATED = { cacheControl: 'no-cache' };
const KEPT_FOREVER = { cacheControl: 'public, max-age=31536000, immutable' };

type Pages = { page: StaticContent; script: StaticContent; scriptPath: string };

export type ApiPagesOptions = { docs: boolean; answers: UnreadResponses };

/** `/openapi.json`, and, if `docs` is true, a readable reference made of it at `/docs`. */
export async function apiPages(app: FastifyInstance, { docs, answers }: ApiPagesOptions): Promise<void> {
  const access = { config: { access: 'public' as const }, schema: { hide: true } };

  const document = madeOnce(() =>
    staticContent('application/json; charset=utf-8', Buffer.from(JSON.stringify(app.swagger()))),
  );
  app.get('/openapi.json', access, async (request, reply) =>
    sendContent(request, reply, await document(), { ...REVALIDATED, answers }),
  );
  if (!docs) return;

  const pages = madeOnce(makePages);
  for (const url of ['/docs', '/docs/']) {
    app.get(url, access, async (request, reply) =>
      sendContent(request, reply.headers(PAGE_HEADERS), (await pages()).page, { ...REVALIDATED, answers }),
    );
  }
  app.get('/docs/:file', access, async (request, reply) => {
    const { script, scriptPath } = await pages();
    if (`/docs/${(request.params as { file: string }).file}` !== scriptPath) {
      throw new NotFoundError('There is nothing at this address.');
    }
    return sendContent(request, reply, script, { ...KEPT_FOREVER, answers });
  });
}

async function makePages(): Promise<Pages> {
  const script = await staticContent('text/javascript; charset=utf-8', await referenceScript());
  const scriptPath = `/docs/reference.${script.hash}.js`;
  return {
    page: await staticContent('text/html; charset=utf-8', Buffer.from(referencePage(scriptPath))),
    script,
    scriptPath,
  };
}

/** Made when it is first asked for, and again only after a failure. */
function madeOnce<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make().catch((error) => {
      made = undefined;
      throw error;
    });
    return made;
  };
}
