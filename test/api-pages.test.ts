import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { get as httpGet, type IncomingMessage } from 'node:http';
import { test } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { startApp } from './harness/app.ts';

/** The API reference and the OpenAPI document: the same bytes for every caller. */

const ORIGIN = 'https://app.example';
const app = await startApp({ corsOrigins: [ORIGIN] });
const without = await startApp({ docs: false });
const PUBLIC_URL = 'https://company.example/records';
const behindProxy = await startApp({ publicUrl: PUBLIC_URL });

type Fetched = { status: number; headers: IncomingMessage['headers']; bytes: Buffer };

async function fetched(
  path: string,
  headers: Record<string, string> = {},
  method = 'GET',
  { baseUrl } = app,
): Promise<Fetched> {
  const [response] = (await once(httpGet(baseUrl + path, { headers, method }), 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  return { status: response.statusCode ?? 0, headers: response.headers, bytes: Buffer.concat(chunks) };
}

async function scriptPath(name = 'reference'): Promise<string> {
  const { bytes } = await fetched('/docs');
  const path = new RegExp(`<script src="(docs/${name}\\.[^"]+)"`).exec(bytes.toString())?.[1];
  assert.ok(path, bytes.toString());
  return `/${path}`;
}

const PATHS = {
  page: async () => '/docs',
  script: scriptPath,
  'start script': () => scriptPath('start'),
  document: async () => '/openapi.json',
  icon: async () => '/favicon.svg',
};

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

test('a script is cached for ever under a path with its hash; the page and the document are revalidated', async () => {
  for (const path of [await scriptPath(), await scriptPath('start')]) {
    assert.match(path, /^\/docs\/\w+\.[\w-]{22}\.js$/);
    assert.equal((await fetched(path)).headers['cache-control'], 'public, max-age=31536000, immutable');
  }
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

/* ---- the address of the service ---- */

async function serversOf(headers: Record<string, string>, at = app) {
  const { servers, components } = JSON.parse((await fetched('/openapi.json', headers, 'GET', at)).bytes.toString());
  const { tokenUrl } = components.securitySchemes.oauth2.flows.clientCredentials;
  assert.equal(tokenUrl, `${servers[0].url.replace(/\/$/, '')}/oauth/token`, 'secrets go to the same address');
  return servers;
}

for (const host of ['records.example', 'records.example:8443', '127.0.0.1:80', '[::1]:8080', 'my_host-1']) {
  test(`the document names the host of the request: ${host}`, async () => {
    assert.deepEqual(await serversOf({ host }), [{ url: `http://${host}` }]);
  });
}

for (const host of ['a;b', 'a$b', "a'b", '%41', 'a,b', '(a)', ':80', 'a'.repeat(300)]) {
  test(`the document does not repeat the host "${host.slice(0, 10)}"`, async () => {
    assert.deepEqual(await serversOf({ host }), [{ url: '/' }]);
    const { bytes } = await fetched('/', { host });
    assert.deepEqual(JSON.parse(bytes.toString()).links.docs, '/docs');
  });
}

test('a header of a proxy does not change the address, PUBLIC_URL does', async () => {
  const forged = { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https', forwarded: 'host=evil.example' };
  assert.deepEqual(await serversOf(forged), [{ url: app.baseUrl }]);
  assert.deepEqual(await serversOf({ host: 'other.example' }, behindProxy), [{ url: PUBLIC_URL }]);
});

test('the document of each host has its own ETag and decodes to its own address', async () => {
  const tags = new Set<unknown>();
  for (const host of ['one.example', 'two.example']) {
    for (const [encoding, decode] of [
      ['br', brotliDecompressSync],
      ['gzip', gunzipSync],
    ] as const) {
      const { headers, bytes } = await fetched('/openapi.json', { host, 'accept-encoding': encoding });
      assert.equal(headers['content-encoding'], encoding);
      assert.equal(JSON.parse(decode(bytes).toString()).servers[0].url, `http://${host}`);
      tags.add(headers.etag);
    }
  }
  assert.equal(tags.size, 4);
});

test('every link of the pages is relative, so that they work under any path', async () => {
  for (const [path, headers] of [
    ['/docs', {}],
    ['/docs/', {}],
  ] as const) {
    const text = (await fetched(path, headers)).bytes.toString();
    const links = [...text.matchAll(/(?:src|href|data-document)="([^"]+)"/g)].map(([, link = '']) => link);
    assert.ok(links.length > 3);
    for (const link of links) {
      assert.doesNotMatch(link, /^(\/|\w+:)/);
      const { pathname } = new URL(link, new URL(`/records${path}`, app.baseUrl));
      assert.ok(pathname.startsWith('/records/'), `${path}: ${link}`);
      assert.equal((await fetched(pathname.slice('/records'.length))).status, 200, link);
    }
  }
});

test('the icon is an image at both of its addresses', async () => {
  for (const path of ['/favicon.svg', '/favicon.ico']) {
    const { headers, bytes } = await fetched(path);
    assert.equal(headers['content-type'], 'image/svg+xml');
    assert.match(bytes.toString(), /^<svg xmlns=/);
  }
});

/* ---- the page at / ---- */

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8';

for (const accept of [
  undefined,
  '*/*',
  'application/json',
  'application/json, text/html',
  'text/html;q=0.5, application/json',
  'text/html;q=0',
  'nonsense',
]) {
  test(`/ answers a program with Accept "${accept}" with JSON, to GET and to HEAD`, async () => {
    const headers: Record<string, string> = accept === undefined ? {} : { accept };
    const [got, head] = [await fetched('/', headers), await fetched('/', headers, 'HEAD')];
    assert.deepEqual([got.status, head.status, head.bytes.length], [200, 200, 0]);
    for (const answer of [got, head]) {
      assert.equal(answer.headers['content-type'], 'application/json; charset=utf-8');
      assert.equal(answer.headers['content-length'], String(got.bytes.length));
      assert.match(String(answer.headers.vary), /\bAccept\b(?!-)/);
      assert.match(String(answer.headers['cache-control']), /^public, max-age=\d$/);
    }
  });
}

for (const accept of [BROWSER, 'text/html', 'application/json;q=0.9, text/html']) {
  test(`/ leads a browser with Accept "${accept}" to the console, under any path`, async () => {
    const { status, headers } = await fetched('/', { accept });
    assert.deepEqual([status, headers.location], [302, 'console']);
    assert.match(String(headers.vary), /\bAccept\b(?!-)/);
    assert.equal(headers['cache-control'], 'no-cache');
  });
}

test('/ tells a program the name, the version, whether the service is ready, and where the pages are', async () => {
  const body = JSON.parse((await fetched('/')).bytes.toString());
  assert.equal(body.name, 'Case Records');
  assert.equal(body.version, JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8')).version);
  assert.equal(body.status, 'ready');
  assert.deepEqual(Object.keys(body.links), ['console', 'docs', 'openapi', 'health', 'readiness', 'metrics']);
  for (const link of Object.values<string>(body.links)) {
    assert.ok(link.startsWith(`${app.baseUrl}/`));
    assert.equal((await fetched(link.slice(app.baseUrl.length))).status, 200, link);
  }
});

test('/ behind a proxy has its address, and no link to /metrics, which proxies keep inside', async () => {
  const { links } = JSON.parse((await fetched('/', {}, 'GET', behindProxy)).bytes.toString());
  assert.equal(links.docs, `${PUBLIC_URL}/docs`);
  assert.deepEqual(Object.keys(links), ['console', 'docs', 'openapi', 'health', 'readiness']);
});

test('/ without the reference does not link to it', async () => {
  assert.equal(JSON.parse((await fetched('/', {}, 'GET', without)).bytes.toString()).links.docs, undefined);
});

test('/ says when the service is not ready, with one check of the database per second for all callers', async () => {
  let queries = 0;
  const counting = await startApp();
  const { queryFirst } = counting.db;
  counting.db.queryFirst = (...parameters: Parameters<typeof queryFirst>) => {
    queries++;
    return queryFirst.apply(counting.db, parameters) as never;
  };
  const status = async () => JSON.parse((await fetched('/', {}, 'GET', counting)).bytes.toString()).status;
  const asked = await Promise.all(Array.from({ length: 50 }, status));
  assert.deepEqual([new Set(asked), queries], [new Set(['ready']), 1]);
  await counting.sql('DELETE FROM migrations');
  assert.deepEqual([await status(), queries], ['ready', 1]);
  counting.clock.advance({ seconds: 1 });
  assert.deepEqual([await status(), await status(), queries], ['not ready', 'not ready', 2]);
});
