import assert from 'node:assert/strict';
import { once } from 'node:events';
import { get as httpGet, type IncomingMessage } from 'node:http';
import { test } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { startApp } from './harness/app.ts';

/** How the console is served. What it does is in test/browser/console. */

const app = await startApp();
const behindProxy = await startApp({ publicUrl: 'https://company.example/records' });

type Fetched = { status: number; headers: IncomingMessage['headers']; bytes: Buffer };

async function fetched(path: string, headers: Record<string, string> = {}, method = 'GET', { baseUrl } = app) {
  const [response] = (await once(httpGet(baseUrl + path, { headers, method }), 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  const fetched: Fetched = {
    status: response.statusCode ?? 0,
    headers: response.headers,
    bytes: Buffer.concat(chunks),
  };
  return fetched;
}

const pageAt = async (path: string, service = app) => (await fetched(path, {}, 'GET', service)).bytes.toString();
const linksOf = (page: string) => [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link = '']) => link);

const PAGES = ['/console', '/console/', '/console/cases', '/console/cases/', '/console/cases/1/x?open=new'];

for (const path of PAGES) {
  test(`${path} is the page, and its files are there, also under the path of a proxy`, async () => {
    for (const [service, prefix] of [
      [app, ''],
      [behindProxy, '/records'],
    ] as const) {
      const page = await pageAt(path, service);
      const links = linksOf(page);
      assert.equal(links.length, 3);
      for (const link of links) {
        const { pathname } = new URL(link, new URL(prefix + path, 'https://company.example'));
        assert.ok(pathname.startsWith(`${prefix}/`), link);
        assert.equal((await fetched(pathname.slice(prefix.length), {}, 'GET', service)).status, 200, pathname);
      }
    }
  });
}

test('the policy allows files of the service alone, nothing inline, no frame, and no text as script', async () => {
  for (const path of PAGES) {
    const { headers } = await fetched(path);
    assert.equal(
      headers['content-security-policy'],
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; " +
        "trusted-types 'none'",
    );
    assert.equal(headers['x-content-type-options'], 'nosniff');
    assert.equal(headers['cross-origin-opener-policy'], 'same-origin');
  }
  const page = await pageAt('/console');
  assert.doesNotMatch(page, /<style|<script[^>]*>[^<]|\son\w+=|style="/);
});

test('the page is revalidated; its files are kept for ever under names with their hash', async () => {
  assert.equal((await fetched('/console')).headers['cache-control'], 'no-cache');
  const files = linksOf(await pageAt('/console')).filter((link) => link.startsWith('console/'));
  assert.equal(files.length, 2);
  for (const file of files) {
    assert.match(file, /^console\/main\.[\w-]{22}\.(js|css)$/);
    const { headers } = await fetched(`/${file}`);
    assert.equal(headers['cache-control'], 'public, max-age=31536000, immutable');
    assert.equal(headers['content-type'], `text/${file.endsWith('css') ? 'css' : 'javascript'}; charset=utf-8`);
  }
});

test('page and files are the same in every encoding, and one that the browser has is not sent again', async () => {
  for (const path of ['/console', '/console/cases', ...linksOf(await pageAt('/console/'))]) {
    const address = path.startsWith('/') ? path : new URL(path, 'http://x/console/').pathname;
    const plain = await fetched(address);
    const zipped = await fetched(address, { 'accept-encoding': 'gzip' });
    const brotli = await fetched(address, { 'accept-encoding': 'gzip, br' });
    assert.deepEqual(
      [plain, zipped, brotli].map(({ headers }) => headers['content-encoding']),
      [undefined, 'gzip', 'br'],
    );
    assert.ok(plain.bytes.equals(gunzipSync(zipped.bytes)));
    assert.ok(plain.bytes.equals(brotliDecompressSync(brotli.bytes)));
    for (const [encoding, { headers, bytes }] of [
      ['identity', plain],
      ['gzip', zipped],
      ['br', brotli],
    ] as const) {
      const known = await fetched(address, { 'accept-encoding': encoding, 'if-none-match': String(headers.etag) });
      assert.deepEqual([known.status, known.bytes.length], [304, 0]);
      const head = await fetched(address, { 'accept-encoding': encoding }, 'HEAD');
      assert.deepEqual([head.status, head.bytes.length], [200, 0]);
      assert.equal(head.headers['content-length'], String(bytes.length));
    }
  }
});

for (const path of ['/console/main.other.js', '/console/main.css', '/console/a/main.js', `/console${'/a'.repeat(9)}`]) {
  test(`there is nothing at ${path}`, async () => {
    const { status, bytes } = await fetched(path);
    assert.deepEqual([status, JSON.parse(bytes.toString()).code], [404, 'not_found']);
  });
}
