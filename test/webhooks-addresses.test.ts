import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer, connect as dialTo } from 'node:net';
import { after, test } from 'node:test';
import { resolveWithDns } from '../src/webhooks/outbound/dns.ts';
import { post } from '../src/webhooks/outbound/http-post.ts';
import { isPublicAddress } from '../src/webhooks/outbound/public-address.ts';
import { connectToPublicHost, type OutboundPolicy } from '../src/webhooks/outbound/public-connect.ts';
import { startApp } from './harness/app.ts';
import { makeCertificate, openReceiver, type Receiver, verified } from './harness/receiver.ts';
import { secrets, webhookWorker } from './harness/webhook-worker.ts';

/** Where webhooks may go. Nothing leaves the machine: the tests resolve names and connect themselves. */

const PUBLIC = '93.184.215.14';
const certificate = makeCertificate();
const receiver = await openReceiver(certificate);
after(receiver.close);
const never = new AbortController().signal;

const PRIVATE = [
  '0.0.0.0',
  '0.1.2.3',
  '10.0.0.1',
  '100.64.0.1',
  '100.127.255.255',
  '127.0.0.1',
  '127.255.255.254',
  '168.63.129.16',
  '169.254.169.254',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.8',
  '192.0.2.1',
  '192.88.99.1',
  '192.168.0.1',
  '198.18.0.1',
  '198.19.255.255',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '239.255.255.255',
  '240.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::127.0.0.1',
  '::ffff:127.0.0.1',
  '::ffff:10.0.0.1',
  '::ffff:8.8.8.8',
  '::ffff:0:127.0.0.1',
  '64:ff9b::7f00:1',
  '64:ff9b:1::1',
  '100::1',
  '2001::1',
  '2001:db8::1',
  '2002:7f00:1::1',
  '3fff::1',
  'fc00::1',
  'fd12:3456:789a::1',
  'fe80::1',
  'fe80::1%lo',
  'fec0::1',
  'ff02::1',
];
const OUTSIDE = [
  '8.8.8.8',
  PUBLIC,
  '100.63.255.255',
  '100.128.0.1',
  '172.32.0.1',
  '192.0.1.1',
  '223.255.255.255',
  '2606:4700::1111',
  '2a00:1450::1',
];

for (const address of PRIVATE) {
  test(`${address} is not public, by itself or as what a name resolves to`, async () => {
    assert.equal(isPublicAddress(address), false);
    const dialled: string[] = [];
    const reach = reachTo(async () => [address], dialled);
    await assert.rejects(connectToPublicHost(new URL('https://receiver.example/'), reach, never), /no public address/);
    if (!address.includes('%')) {
      const host = address.includes(':') ? `[${address}]` : address;
      await assert.rejects(connectToPublicHost(new URL(`https://${host}/`), reach, never), /no public address/);
    }
    assert.deepEqual(dialled, []);
  });
}

for (const address of OUTSIDE) test(`${address} is public`, () => assert.equal(isPublicAddress(address), true));

/** Every public address leads to the local receiver, but the connection reports the public address. */
function reachTo(
  resolve: OutboundPolicy['resolve'] & {},
  dialled: string[],
  to: { port: number } = receiver,
): OutboundPolicy {
  return {
    allowPrivateAddresses: false,
    ca: certificate.cert,
    resolve,
    dial: (address) => {
      dialled.push(address);
      const socket = dialTo({ host: '127.0.0.1', port: to.port });
      Object.defineProperty(socket, 'remoteAddress', { get: () => address });
      return socket;
    },
  };
}

test('over https, to the address that the name was resolved to', async () => {
  const dialled: string[] = [];
  const answer = await post(
    new URL('https://receiver.example/hooks?a=b'),
    { headers: { 'x-test': '1' }, body: '{"id":1}' },
    reachTo(async () => ['10.0.0.1', PUBLIC], dialled),
    never,
  );
  assert.equal(answer.status, 200);
  assert.deepEqual(dialled, [PUBLIC], 'of several addresses the public ones');
  const { path, headers } = (receiver as Receiver).received.at(-1) ?? assert.fail();
  assert.deepEqual([path, headers.host, headers['x-test']], ['/hooks?a=b', 'receiver.example', '1']);
});

test('a name that is public the first time and private the second is asked once for each attempt', async () => {
  const answers = [[PUBLIC], ['127.0.0.1']];
  const dialled: string[] = [];
  const reach = reachTo(async () => answers.shift() ?? assert.fail('asked more than once'), dialled);
  const send = () => post(new URL('https://receiver.example/'), { headers: {}, body: '{}' }, reach, never);
  assert.equal((await send()).status, 200);
  await assert.rejects(send(), /no public address/);
  assert.deepEqual(dialled, [PUBLIC]);
});

test('a connection that leads to a private address all the same is ended before a byte is sent', async (t) => {
  const server = createServer();
  t.after(() => server.close());
  let bytes = 0;
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  server.on('connection', (socket) => {
    socket.on('data', (data) => {
      bytes += data.length;
      socket.destroy();
    });
    socket.on('error', () => {});
    socket.on('close', () => resolve());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const reach = {
    allowPrivateAddresses: false,
    resolve: async () => [PUBLIC],
    dial: () => dialTo({ host: '127.0.0.1', port }),
  };
  await assert.rejects(
    connectToPublicHost(new URL('https://receiver.example/'), reach, never),
    /did not lead to a public address/,
  );
  await closed;
  assert.equal(bytes, 0);
});

test('the machine’s own addresses are not reached, public ones neither', async () => {
  const dialled: string[] = [];
  const reach = { ...reachTo(async () => [PUBLIC], dialled), localAddresses: () => [PUBLIC] };
  for (const url of ['https://receiver.example/', `https://${PUBLIC}/`]) {
    await assert.rejects(connectToPublicHost(new URL(url), reach, never), /no public address/);
  }
  assert.deepEqual(dialled, []);
});

test('a name that cannot be resolved fails the attempt', async () => {
  const silent = createSocket('udp4').bind(0, '127.0.0.1');
  await once(silent, 'listening');
  const servers = [`127.0.0.1:${silent.address().port}`];
  const ending = new AbortController();
  silent.once('message', () => ending.abort(new Error('enough')));
  await assert.rejects(resolveWithDns('receiver.example', ending.signal, servers), { code: 'ECANCELLED' });
  silent.close();
});

test('plain http is not spoken', async () => {
  const dialled: string[] = [];
  const reach = reachTo(async () => [PUBLIC], dialled);
  await assert.rejects(connectToPublicHost(new URL('http://receiver.example/'), reach, never), /Only https/);
  assert.deepEqual(dialled, []);
});

test('a certificate for another name, or from an unknown issuer, ends the connection', async () => {
  const reach = reachTo(async () => [PUBLIC], []);
  const send = (url: string, changes: Partial<OutboundPolicy> = {}) =>
    post(new URL(url), { headers: {}, body: '{}' }, { ...reach, ...changes }, never);
  const { length } = receiver.received;
  await assert.rejects(send('https://other.example/'), /ERR_TLS_CERT_ALTNAME_INVALID/);
  await assert.rejects(send(`https://${PUBLIC}/`), /ERR_TLS_CERT_ALTNAME_INVALID/);
  await assert.rejects(send('https://receiver.example/', { ca: undefined }), /SELF_SIGNED/);
  assert.equal(receiver.received.length, length);
});

test('if the settings allow it, http and private addresses are reached', async () => {
  const plain = await openReceiver();
  const sent = { headers: {}, body: '{}' };
  assert.equal((await post(new URL(plain.url), sent, { allowPrivateAddresses: true }, never)).status, 200);
  const named = new URL(plain.url.replace('127.0.0.1', 'localhost'));
  const reach = { allowPrivateAddresses: true, resolve: async () => ['127.0.0.1'] };
  assert.equal((await post(named, sent, reach, never)).status, 200);
  await plain.close();
});

test('from a change to a receiver over https, and to no private address', async () => {
  const app = await startApp({ secrets });
  const company = await app.company();
  const made = await company.post('/webhooks/endpoints', {
    url: 'https://receiver.example/hooks',
    types: ['interaction.*'],
  });
  assert.equal(made.status, 200, made.text);
  receiver.received.length = 0;
  let address = PUBLIC;
  const worker = webhookWorker(app, { outbound: reachTo(async () => [address], []) });
  await company.post(`${company.path}/interactions`, { type: 'phone' });
  await worker.runOnce();
  const [received] = receiver.received;
  assert.ok(received);
  await verified(received, [made.body.secret], app.clock.read());
  address = '169.254.169.254';
  await company.post(`${company.path}/interactions`, { type: 'phone' });
  await worker.runOnce();
  assert.equal(receiver.received.length, 1);
  const list = await company.get(`/webhooks/endpoints/${made.body.id}/deliveries?state=waiting`);
  const { body } = await company.get(`/webhooks/endpoints/${made.body.id}/deliveries/${list.body[0].id}`);
  assert.equal(body.tries[0].error, 'The host has no public address.');
});
