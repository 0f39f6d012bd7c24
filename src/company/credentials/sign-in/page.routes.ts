import type { FastifyInstance } from 'fastify';
import { type StaticContent, sendContent, staticContent } from '../../../http/openapi/static-content.ts';
import type { UnreadResponses } from '../../../http/plugins/unread-responses.ts';
import { NotFoundError } from '../../../kernel/errors.ts';
import { SIGN_IN_STYLE, signInPage } from './page-html.ts';
import { SIGN_IN_SCRIPT } from './page-script.ts';

const PAGE_HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
    "frame-ancestors 'none'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': 'publickey-credentials-get=(self), publickey-credentials-create=(self)',
};
const IMMUTABLE = { cacheControl: 'public, max-age=31536000, immutable' };

/** Serves the page on which people sign in. Links in mails lead to it. */
export async function signInPageRoutes(
  app: FastifyInstance,
  { responses }: { responses: UnreadResponses },
): Promise<void> {
  const access = { config: { access: 'public' as const }, schema: { hide: true } };
  const script = await staticContent('text/javascript; charset=utf-8', Buffer.from(SIGN_IN_SCRIPT));
  const style = await staticContent('text/css; charset=utf-8', Buffer.from(SIGN_IN_STYLE));
  const files = new Map<string, StaticContent>([
    [`page.${script.hash}.js`, script],
    [`page.${style.hash}.css`, style],
  ]);
  const [scriptName = '', styleName = ''] = files.keys();
  const page = await staticContent('text/html; charset=utf-8', Buffer.from(signInPage(scriptName, styleName)));

  app.get('/sign-in', access, async (request, reply) =>
    sendContent(request, reply.headers(PAGE_HEADERS), page, { cacheControl: 'no-cache', responses }),
  );
  app.get('/sign-in/:file', access, async (request, reply) => {
    const file = files.get((request.params as { file: string }).file);
    if (!file) throw new NotFoundError('There is nothing at this address.');
    return sendContent(request, reply, file, { ...IMMUTABLE, responses });
  });
}
