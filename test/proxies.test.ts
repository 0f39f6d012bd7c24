import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { request } from 'node:http';
import { test } from 'node:test';
import fastify from 'fastify';
import pino from 'pino';
import { readConfig } from '../src/config.ts';
import { callerAddresses, parseForwarded } from '../src/http/plugins/caller-address.ts';
import { startApp } from './harness/app.ts';
import { processorMs } from './harness/processor-time.ts';
import { until } from './harness/until.ts';

/** A proxy in front: whose address counts, and which path the links have. */

const PATH = '/manage/company';
const TRUSTED = '127.0.0.1';
const STRANGER = '127.0.0.2';

type Line = { reqId?: string; status?: number; ip?: string };
const lines: Line[] = [];
const logger = pino({ base: null }, { write: (line: string) => void lines.push(JSON.parse(line)) });
const proxied = await startApp({
  logger,
  trustedProxies: [TRUSTED, '10.0.0.0/8', 'fd00::/8'],
  publicUrl: 'https://company.example/records',
});
const direct = await startApp({ logger });

type SentHeaders = Record<string, string | string[]>;
type Sent = { peer?: string; headers?: SentHeaders; path?: string; method?: string };

/** Sends a request from an address of this machine. Returns the status and the address that the log has. */
async function send(
  app: { baseUrl: string },
  { peer = TRUSTED, headers = {}, path = PATH, method = 'GET' }: Sent = {},
): Promise<{ status: number | undefined; ip: string | undefined }> {
  const id = randomUUID();
  const status = await new Promise<number | undefined>((resolve, reject) => {
    const sent = request(new URL(path, app.baseUrl), {
      method,
      headers: { 'x-request-id': id, 'content-type': 'application/json', ...headers },
      localAddress: peer,
      agent: false,
    });
    sent.on('error', reject).on('response', (response) => {
      response.resume().on('end', () => resolve(response.statusCode));
    });
    sent.end();
  });
  const line = () => lines.find(({ reqId }) => reqId === id);
  await until(() => line() !== undefined);
  return { status, ip: line()?.ip };
}

for (const [rule, headers, expected] of [
  ['without a header the peer counts', {}, TRUSTED],
  ['the address that the proxy names counts', { 'x-forwarded-for': '203.0.113.5' }, '203.0.113.5'],
  ['what a caller put in front of it does not', { 'x-forwarded-for': '1.1.1.1, 203.0.113.5' }, '203.0.113.5'],
  ['words of a caller in front of it do no harm', { 'x-forwarded-for': 'x"y, 203.0.113.5' }, '203.0.113.5'],
  ['further trusted proxies are passed over', { 'x-forwarded-for': '203.0.113.5, 10.1.2.3,fd00::2' }, '203.0.113.5'],
  ['if all are trusted, the first one counts', { 'x-forwarded-for': '10.1.2.3, 10.9.9.9' }, '10.1.2.3'],
  ['up to 32 addresses are read', { 'x-forwarded-for': `203.0.113.5${', 10.1.2.3'.repeat(31)}` }, '203.0.113.5'],
  ['of 32 trusted ones the first one counts', { 'x-forwarded-for': `10.9.9.9${',10.1.2.3'.repeat(31)}` }, '10.9.9.9'],
  ['after 32 trusted ones the peer counts', { 'x-forwarded-for': `203.0.113.5${',10.1.2.3'.repeat(32)}` }, TRUSTED],
  ['Forwarded has the same bound', { forwarded: `for=203.0.113.5${', for=10.1.2.3'.repeat(32)}` }, TRUSTED],
  ['several headers are one list', { 'x-forwarded-for': ['1.1.1.1', '203.0.113.5'] }, '203.0.113.5'],
  ['a port is left out', { 'x-forwarded-for': '203.0.113.5:4711' }, '203.0.113.5'],
  ['a port after IPv6 is left out', { 'x-forwarded-for': '[2001:db8::1]:4711' }, '2001:db8::1'],
  ['one IPv6 address has one form', { 'x-forwarded-for': '2001:DB8:0:0::1' }, '2001:db8::1'],
  ['IPv4 within IPv6 is the IPv4 address', { 'x-forwarded-for': '::ffff:203.0.113.5' }, '203.0.113.5'],
  ['a word that is not an address: the peer counts', { 'x-forwarded-for': '1.1.1.1, me' }, TRUSTED],
  ['an empty header: the peer counts', { 'x-forwarded-for': '' }, TRUSTED],
  ['Forwarded names the address too', { forwarded: 'for=203.0.113.5;proto=https' }, '203.0.113.5'],
  ['Forwarded with IPv6 and a port', { forwarded: 'For="[2001:db8::1]:4711"' }, '2001:db8::1'],
  [
    'Forwarded through several proxies',
    { forwarded: 'for=1.1.1.1, for=203.0.113.5;by=x, for=10.0.0.9' },
    '203.0.113.5',
  ],
  ['Forwarded with a hidden caller: the peer counts', { forwarded: 'for=unknown' }, TRUSTED],
  ['Forwarded with an obfuscated caller: the peer counts', { forwarded: 'for=_gazonk' }, TRUSTED],
  ['malformed Forwarded: the peer counts', { forwarded: 'for=1.1.1.1, for=[::1]' }, TRUSTED],
  ['both headers, if they agree', { forwarded: 'for=203.0.113.5', 'x-forwarded-for': '203.0.113.5' }, '203.0.113.5'],
  [
    'both headers, one of them forged: the peer',
    { forwarded: 'for=1.1.1.1', 'x-forwarded-for': '203.0.113.5' },
    TRUSTED,
  ],
  ['both headers, one malformed: the peer', { forwarded: ';;=', 'x-forwarded-for': '203.0.113.5' }, TRUSTED],
] as const) {
  test(`from a trusted proxy: ${rule}`, async () => {
    const { status, ip } = await send(proxied, { headers: headers as unknown as SentHeaders });
    assert.ok(status === 401 || status === 429);
    assert.equal(ip, expected);
  });
}

test('a peer that is not trusted cannot choose its address, and by default none is trusted', async () => {
  for (const headers of [{ 'x-forwarded-for': '203.0.113.5' }, { forwarded: 'for=203.0.113.5' }]) {
    assert.equal((await send(proxied, { peer: STRANGER, headers })).ip, STRANGER);
    assert.equal((await send(direct, { headers })).ip, TRUSTED);
  }
});

test('the address of a request is computed once', async () => {
  const app = fastify();
  callerAddresses(app, [TRUSTED]);
  app.get('/', async (request) => {
    const first = request.callerAddress;
    request.raw.headers['x-forwarded-for'] = '203.0.113.6';
    return [first, request.callerAddress];
  });
  const { body } = await app.inject({ url: '/', headers: { 'x-forwarded-for': '203.0.113.5' } });
  assert.deepEqual(JSON.parse(body), ['203.0.113.5', '203.0.113.5']);
});

test('failed attempts of one caller behind a proxy do not block another one, whatever the first one forges', async () => {
  proxied.clock.advance({ minutes: 1 });
  const attempt = (address: string, forged = '') =>
    send(proxied, { headers: { 'x-forwarded-for': `${forged}${address}` } });
  for (let i = 0; i < 30; i++) assert.equal((await attempt('203.0.113.7')).status, 401);
  assert.deepEqual(await attempt('203.0.113.7'), { status: 429, ip: '203.0.113.7' });
  assert.equal((await attempt('203.0.113.7', '198.51.100.1, ')).status, 429);
  assert.equal((await attempt('203.0.113.8')).status, 401);
});

test('the log of a refusal names the caller, the log of a success does not', async () => {
  const company = await proxied.company();
  const headers = { 'x-forwarded-for': '203.0.113.9', authorization: `Bearer ${company.token}` };
  assert.deepEqual(await send(proxied, { headers }), { status: 200, ip: undefined });
  const narrow = await company.tokenFor([]);
  const refused = await send(proxied, { headers: { ...headers, authorization: `Bearer ${narrow}` } });
  assert.deepEqual(refused, { status: 403, ip: '203.0.113.9' });
});

test('links have the path of PUBLIC_URL, which the proxy removes from requests', async () => {
  const company = await proxied.company();
  const pages = await company.get(`${company.path}/interactions?page=1&per_page=1`);
  assert.match(String(pages.headers.link), new RegExp(`^</records${company.path}/interactions\\?page=1&per_page=1>`));
  const advisers = await company.get('/manage/advisers?per_page=1');
  assert.match(String(advisers.headers.link), /<\/records\/manage\/advisers\?per_page=1&page=2>; rel="next"/);
  const events = await company.get('/events?limit=1');
  assert.match(String(events.headers.link), /^<\/records\/events\?limit=1&after=/);
});

test('without PUBLIC_URL links have the path of the request', async () => {
  const company = await direct.company();
  const pages = await company.get(`${company.path}/interactions?page=1&per_page=1`);
  assert.match(String(pages.headers.link), new RegExp(`^<${company.path}/interactions\\?page=1&per_page=1>`));
});

test('Forwarded is read by the grammar of RFC 7239', () => {
  // Section 4 and 7.1 of the RFC, then what its grammar allows and forbids.
  for (const [header, expected] of [
    ['for="_gazonk"', ['_gazonk']],
    ['For="[2001:db8:cafe::17]:4711"', ['[2001:db8:cafe::17]:4711']],
    ['for=192.0.2.60;proto=http;by=203.0.113.43', ['192.0.2.60']],
    ['for=192.0.2.43, for=198.51.100.17', ['192.0.2.43', '198.51.100.17']],
    ['for=192.0.2.43,for="[2001:db8:cafe::17]",for=unknown', ['192.0.2.43', '[2001:db8:cafe::17]', 'unknown']],
    ['for=_hidden, for=_SEVKISEK', ['_hidden', '_SEVKISEK']],
    ['by=203.0.113.43;FOR=192.0.2.60', ['192.0.2.60']],
    ['proto=https, for=1.1.1.1', ['', '1.1.1.1']],
    ['for="a\\"b, for=1.1.1.1"', ['a"b, for=1.1.1.1']],
    [';for=1.1.1.1;,, ', ['1.1.1.1']],
    ['', []],
    ['for=1.1.1.1;for=2.2.2.2', []],
    ['for=1.1.1.1:80', []],
    ['for=[::1]', []],
    ['for="1.1.1.1', []],
    ['for = 1.1.1.1', []],
    ['1.1.1.1', []],
    ['for=1.1.1.1 for=2.2.2.2', []],
  ] as const) {
    assert.deepEqual(parseForwarded(header), expected, header);
  }
  const ms = processorMs(() => {
    for (const part of [' ', ';', ',', '"', '\\', 'a', 'a=b;', 'for="\\']) parseForwarded(part.repeat(16_384));
  });
  assert.ok(ms < 500, `the time grows with the length of the header alone: ${ms} ms`);
});

test('TRUSTED_PROXIES takes addresses and ranges, and nothing else', () => {
  const read = (TRUSTED_PROXIES: string) => readConfig({ TRUSTED_PROXIES }).TRUSTED_PROXIES;
  assert.deepEqual(read(''), []);
  assert.deepEqual(read('127.0.0.1, ::1,10.0.0.0/8 ,fd00::/8'), ['127.0.0.1', '::1', '10.0.0.0/8', 'fd00::/8']);
  for (const invalid of ['proxy', '10.0.0', '10.0.0.0/33', '10.0.0.0/', '10.0.0.0/8/8', '::/129', '10.0.0.1:80', '*']) {
    assert.throws(
      () => read(`127.0.0.1,${invalid}`),
      { message: /^TRUSTED_PROXIES .*such as 10\.0\.0\.0\/8/ },
      invalid,
    );
  }
});

test('TRUSTED_PROXIES refuses ranges so wide that callers are in them', () => {
  const read = (TRUSTED_PROXIES: string) => readConfig({ TRUSTED_PROXIES }).TRUSTED_PROXIES;
  for (const [wide, minBits] of [
    ['0.0.0.0/0', 8],
    ['10.0.0.0/00', 8],
    ['128.0.0.0/1', 8],
    ['10.0.0.0/7', 8],
    ['2000::/3', 7],
    ['fc00::/6', 7],
    // These contain IPv4-mapped addresses.
    ['::/0', 104],
    ['::/64', 104],
    ['::ffff:0:0/96', 104],
    ['::FFFF:10.0.0.0/103', 104],
  ] as const) {
    assert.throws(
      () => read(`127.0.0.1,${wide}`),
      new RegExp(`TRUSTED_PROXIES .*"${wide}".*/${minBits} or more`),
      wide,
    );
  }
  for (const narrow of ['10.0.0.0/8', 'fc00::/7', '::ffff:10.0.0.0/104', '::ffff:10.0.0.1', '::1/128']) {
    assert.deepEqual(read(narrow), [narrow]);
  }
});

test('PUBLIC_URL is brought into its normal form without trailing slashes', () => {
  const read = (PUBLIC_URL: string) => readConfig({ PUBLIC_URL }).PUBLIC_URL;
  for (const [typed, expected] of [
    ['https://x.example', 'https://x.example'],
    ['https://x.example/?', 'https://x.example'],
    ['HTTPS://X.example:443/a//', 'https://x.example/a'],
    ['https://x.example:8443/a/../b/#', 'https://x.example:8443/b'],
  ] as const) {
    assert.equal(read(typed), expected);
  }
  for (const invalid of ['x.example', 'https://x.example/?a', 'https://x.example/#a', 'https://u:p@x.example']) {
    assert.throws(() => read(invalid), /PUBLIC_URL must/, invalid);
  }
});
