import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { type IncomingHttpHeaders, request } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, describe, test } from 'node:test';
import { temporaryDataDirectory } from '../harness/data-directory.ts';
import { freePort } from '../harness/free-port.ts';
import { findNginx, startNginx } from '../harness/nginx.ts';
import { startProcess } from '../harness/service.ts';
import { until } from '../harness/until.ts';

/** A real nginx with the sample configuration in front of the real service, under a sub-path. */

const data = await temporaryDataDirectory('started');
after(() => data.remove());
const nginx = await findNginx();
const skip = nginx ? false : 'There is no nginx: test/slow/packages.sh installs it.';

describe('behind nginx under a sub-path', { skip }, async () => {
  if (!nginx) return;
  const port = await freePort();
  const PUBLIC_URL = `http://127.0.0.1:${port}/records`;
  const settings = { DATA_DIR: data.path, PUBLIC_URL, TRUSTED_PROXIES: '127.0.0.1', LOG_LEVEL: 'info' };
  const service = await startProcess(settings);
  const stopNginx = await startNginx(nginx, port, service.url);
  after(async () => {
    await stopNginx();
    await service.stop();
  });
  const demo = JSON.parse(await readFile(join(data.path, 'demo.json'), 'utf8'));
  const interactions = `${demo.base_url}/cases/${demo.case_id}/interactions`;

  type Sent = { from?: string; token?: string; body?: string; headers?: Record<string, string> };
  type Got = { status: number | undefined; headers: IncomingHttpHeaders; body: string };

  /** Sends a request to the proxy from an address of this machine. */
  const send = (url: string, { from = '127.0.0.1', token = demo.token, body, headers = {} }: Sent = {}): Promise<Got> =>
    new Promise((resolve, reject) => {
      const sent = request(url, {
        method: body === undefined ? 'GET' : 'POST',
        localAddress: from,
        agent: false,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
      });
      sent.on('error', reject).on('response', (response) => {
        const { statusCode: status, headers: received } = response;
        text(response).then((read) => resolve({ status, headers: received, body: read }), reject);
      });
      sent.end(body);
    });

  test('the address in demo.json is that of the proxy, and the first call works', async () => {
    assert.equal(demo.base_url, PUBLIC_URL);
    const made = await send(interactions, { body: JSON.stringify({ type: 'phone', notes: 'First call' }) });
    assert.equal(made.status, 200, made.body);
  });

  test('the links of pages lead through the proxy', async () => {
    for (const notes of ['two', 'three']) {
      assert.equal((await send(interactions, { body: JSON.stringify({ type: 'phone', notes }) })).status, 200);
    }
    const seen: string[] = [];
    for (let url: string | undefined = `${interactions}?per_page=1`; url !== undefined; ) {
      const page: Got = await send(url);
      assert.equal(page.status, 200, page.body);
      seen.push(...JSON.parse(page.body).map(({ notes }: { notes: string }) => notes));
      const next = /<([^>]+)>; rel="next"/.exec(String(page.headers.link))?.[1];
      url = next === undefined ? undefined : new URL(next, url).href;
    }
    assert.deepEqual(seen.sort(), ['First call', 'three', 'two']);
  });

  test('failed attempts of one client do not block another one, and forged headers do not help it', async () => {
    const attempt = (from: string, headers: Record<string, string> = {}) =>
      send(interactions, { from, token: 'wrong', headers }).then(({ status }) => status);
    const forgeries = [
      {},
      { 'x-forwarded-for': '203.0.113.1' },
      { forwarded: 'for=203.0.113.2' },
      { 'x-forwarded-for': '203.0.113.3', forwarded: 'for=203.0.113.3' },
    ];
    const minute = () => Math.floor(Date.now() / 60_000);
    const scenario = async (blocked: string, other: string) => {
      const start = minute();
      const statuses: (number | undefined)[] = [];
      for (let i = 0; i < 34; i++) statuses.push(await attempt(blocked, forgeries[i % forgeries.length]));
      statuses.push(await attempt(other), (await send(interactions, { from: blocked })).status);
      return { statuses, isOneMinute: minute() === start };
    };
    // The count starts over with each minute of the clock. If one ended meanwhile, other addresses begin anew.
    const used = ['127.0.0.2', '127.0.0.3'];
    let { statuses, isOneMinute } = await scenario('127.0.0.2', '127.0.0.3');
    if (!isOneMinute) {
      used.push('127.0.0.4', '127.0.0.5');
      ({ statuses, isOneMinute } = await scenario('127.0.0.4', '127.0.0.5'));
    }
    assert.ok(isOneMinute, 'the requests take longer than a minute');
    const [refused, blocked] = [Array(30).fill(401), Array(4).fill(429)];
    assert.deepEqual(statuses, [...refused, ...blocked, 401, 200], 'another client and a valid token are not blocked');
    const addresses = () =>
      new Set(service.output.filter((line) => line.includes('"ip"')).map((line) => JSON.parse(line).ip as string));
    await until(() => addresses().size === used.length);
    assert.deepEqual(addresses(), new Set(used));
  });

  test('a body above the limit gets the response of the service, and metrics stay inside', async () => {
    const large = await send(interactions, { body: 'x'.repeat(1_500_000) });
    assert.deepEqual([large.status, JSON.parse(large.body).code], [413, 'body_too_large']);
    assert.equal((await send(`${PUBLIC_URL}/metrics`)).status, 404);
    assert.equal((await send(`${PUBLIC_URL}/readyz`)).status, 200);
  });
});
