import assert from 'node:assert/strict';
import { once } from 'node:events';
import { get as httpGet, type IncomingMessage } from 'node:http';
import { test } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { startApp } from './harness/app.ts';

/** The API reference and the OpenAPI document: the same bytes for every caller. */

const ORIGIN = 'https://app.example';
const app = await startApp({ corsOrigins: [ORIGIN] });
const without = await startApp({ docs: false });

type Fetched = { status: number; headers: IncomingMessage['headers']; bytes: Buffer };

async function fetched(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Fetched> {
  const [response] = (await once(httpGet(app.baseUrl + path, { headers, method }), 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  return { status: response.statusCode ?? 0, headers: response.headers, bytes: Buffer.concat(chunks) };
}

async function scriptPath(): Promise<string> {
  const { bytes } = await fetched('/docs');
  const path = /<script src="([^"]+)"/.exec(bytes.toString())?.[1];
  assert.ok(path, bytes.toString());
  return path;
}

const PATHS = { page: async () => '/docs', script: scriptPath, document: async () => '/openapi.json' };

for (const [name, pathOf] of Object.entries(PATHS)) {
  test(`the ${name} is the same in every encoding, and has its length and an ETag of its own in each`, async () => {
    const path = await pathOf();
    const plain = await fetched(path);
    const zipped = await fetched(path, { 'accept-encoding': 'gzip' });
    const brotli = await fetched(path, { 'accept-encoding': 'gzip, deflate, br' });
    assert.deepEqual(
      [plain, zipped, brotli].map(({ headers }) => headers['content-encoding']),
      [undefined, 'gzip', 'br'],
    );
    assert.ok(plain.bytes.equals(gunzipSync(zipped.bytes)));
    assert.ok(plain.bytes.equals(brotliDecompressSync(brotli.bytes)));
    const tags = new Set<unknown>();
    for (const { status, headers, bytes } of [plain, zipped, brotli]) {
      assert.equal(status, 200);
      assert.equal(headers['content-length'], String(bytes.length));
      assert.match(String(headers.vary), /Accept-Encoding/);
      assert.match(String(headers.etag), /^"[^"]+"$/);
      tags.add(headers.etag);
    }
    assert.equal(tags.size, 3);
  });

  test(`the ${name} that the caller has is answered with 304, another one is sent`, async () => {
    const path = await pathOf();
    for (const encoding of ['identity', 'gzip', 'br']) {
      const { headers } = await fetched(path, { 'accept-encoding': encoding });
      for (const tags of [headers.etag, `"other", ${headers.etag}`, `W/${headers.etag}`, '*']) {
        const known = await fetched(path, { 'accept-encoding': encoding, 'if-none-match': String(tags) });
        assert.deepEqual([known.status, known.bytes.length, known.headers.etag], [304, 0, headers.etag]);
      }
      const other = await fetched(path, { 'accept-encoding': encoding, 'if-none-match': '"other"' });
      assert.equal(other.status, 200);
    }
  });

  test(`HEAD of the ${name} has the headers of GET and no body`, async () => {
    const path = await pathOf();
    const [got, head] = [await fetched(path), await fetched(path, {}, 'HEAD')];
    assert.deepEqual([head.status, head.bytes.length], [200, 0]);
    for (const header of ['content-length', 'content-type', 'etag', 'cache-control', 'vary'] as const) {
      assert.equal(head.headers[header], got.headers[header], header);
    }
  });
}

test('the script is cached for ever under a path with its hash; the page and the document are revalidated', async () => {
  const path = await scriptPath();
  assert.match(path, /^\/docs\/[\w.-]+\.js$/);
  assert.equal((await fetched(path)).headers['cache-control'], 'public, max-age=31536000, immutable');
  for (const revalidated of ['/docs', '/docs/', '/openapi.json']) {
    assert.equal((await fetched(revalidated)).headers['cache-control'], 'no-cache');
  }
});

for (const [accepted, encoding] of [
  ['', undefined],
  ['identity', undefined],
  ['br;q=0, gzip', 'gzip'],
  ['gzip;q=0.5, br;q=0.4', 'gzip'],
  ['*', 'br'],
  ['*;q=0', undefined],
  ['BR', 'br'],
  ['zstd', undefined],
  ['gzip;q=0.2, identity;q=0.9', undefined],
] as const) {
  test(`Accept-Encoding "${accepted}" is answered with ${encoding ?? 'no encoding'}`, async () => {
    assert.equal((await fetched('/docs', { 'accept-encoding': accepted })).headers['content-encoding'], encoding);
  });
}

test('a page of another origin still learns that the answer depends on its origin', async () => {
  const { headers } = await fetched('/openapi.json', { origin: ORIGIN });
  assert.match(String(headers.vary), /Origin/);
  assert.match(String(headers.vary), /Accept-Encoding/);
});

test('the page runs no script of its own text, and the policy allows none', async () => {
  const { headers, bytes } = await fetched('/docs');
  const policy = String(headers['content-security-policy']);
  assert.match(policy, /script-src 'self';/);
  for (const [, text] of bytes.toString().matchAll(/<script[^>]*>([^<]*)<\/script>/g)) assert.equal(text, '');
});

for (const path of ['/docs/js/scalar.js', '/docs/reference.other.js', '/docs/<script>', '/docs/a/b', '/docs/%zz']) {
  test(`there is nothing at ${path}, and the answer does not repeat the address`, async () => {
    const { status, headers, bytes } = await fetched(encodeURI(path).replace('%25', '%'));
    const body = JSON.parse(bytes.toString());
    assert.deepEqual([status, body.code, body.status], [404, 'not_found', 404]);
    assert.match(String(headers['content-type']), /^application\/problem\+json/);
    assert.doesNotMatch(bytes.toString(), /scalar|reference|script|zz/);
  });
}

test('DOCS=off leaves out the reference and keeps the document', async () => {
  for (const path of ['/docs', '/docs/', await scriptPath()]) {
    const { status, body } = await without.anonymous.get(path);
    assert.deepEqual([status, body.code], [404, 'not_found'], path);
  }
  assert.equal((await without.anonymous.get('/openapi.json')).status, 200);
});
