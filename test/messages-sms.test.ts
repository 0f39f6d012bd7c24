import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, beforeEach, test } from 'node:test';
import { smsOutboxSender, smsSender } from '../src/cases/appointments/messages/sms.ts';
import { gateway } from '../src/cases/appointments/messages/sms-gateway.ts';
import { twilio } from '../src/cases/appointments/messages/sms-twilio.ts';
import { readConfig } from '../src/config.ts';
import { startApp, type TestCompany } from './harness/app.ts';
import { freePort } from './harness/free-port.ts';
import { messageWorker } from './harness/message-worker.ts';
import { temporaryDirectory } from './harness/service.ts';

const app = await startApp();

type Answer = { status: number; body: unknown } | 'hang' | 'break' | 'cut';
const requests: { request: IncomingMessage; body: string }[] = [];
let answer: Answer = { status: 201, body: { sid: 'SM1' } };

/** Answers as the provider's documentation says. The test chooses the answer. */
const provider = createServer((request, response) => {
  let body = '';
  request.on('data', (chunk) => {
    body += chunk;
  });
  request.on('end', () => {
    requests.push({ request, body });
    if (answer === 'hang') return;
    if (answer === 'break') return request.socket.destroy();
    if (answer === 'cut') {
      response.writeHead(201, { 'content-length': 50 }).write('{"sid"', () => request.socket.destroy());
      return;
    }
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(JSON.stringify(answer.body));
  });
}).listen(0, '127.0.0.1');
await once(provider, 'listening');
after(() => {
  provider.closeAllConnections();
  provider.close();
});
const url = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;

const TWILIO = { accountSid: 'AC1', authToken: 'secret', from: '+447400000000', baseUrl: url };
const twilioOffice = messageWorker(app, { sms: smsSender(twilio(TWILIO)) });

beforeEach(async () => {
  app.clock.set('2026-06-01T09:00:00Z');
  await app.sql(`UPDATE messages SET state = 'cancelled' WHERE state IN ('scheduled', 'sending')`);
  requests.length = 0;
  answer = { status: 201, body: { sid: 'SM1' } };
});

async function book(company: TestCompany, more: Record<string, unknown> = {}) {
  const booked = await company.post(`${company.path}/appointments`, {
    adviser_email: company.adviser,
    start_time: '2026-06-29 14:30:00',
    end_time: '2026-06-29 15:30:00',
    sms_recipient: '07400 123456',
    sms_confirmation: true,
    ...more,
  });
  assert.equal(booked.status, 200, booked.text);
  return async () => (await company.get(`${company.path}/appointments/${booked.body.id}/messages`)).body[0];
}

test('Twilio is given number, sender and text as its documents say', async () => {
  const company = await app.company();
  const message = await book(company, { location: '1 High Street' });
  await twilioOffice.runOnce();
  const [{ request, body } = assert.fail()] = requests;
  assert.equal(request.url, '/2010-04-01/Accounts/AC1/Messages.json');
  assert.equal(request.headers.connection, 'close');
  assert.equal(request.headers.authorization, `Basic ${Buffer.from('AC1:secret').toString('base64')}`);
  assert.deepEqual(Object.fromEntries(new URLSearchParams(body)), {
    To: '+447400123456',
    From: '+447400000000',
    Body: 'Smith & Partners: your appointment is on Mon 29 Jun, 14:30-15:30 BST, 1 High Street.',
  });
  const { state, sent_to } = await message();
  assert.deepEqual([state, sent_to], ['sent', '+447400123456']);
});

test('a messaging service is named in place of a number', async () => {
  const from = `MG${'0'.repeat(32)}`;
  await book(await app.company());
  await messageWorker(app, { sms: smsSender(twilio({ ...TWILIO, from })) }).runOnce();
  const sent = new URLSearchParams(requests[0]?.body);
  assert.deepEqual([sent.get('MessagingServiceSid'), sent.get('From')], [from, null]);
});

const INVALID = { code: 21211, message: "Invalid 'To' Phone Number", status: 400 };
const FAULTS: [why: string, answer: Answer, state: string, reason: RegExp][] = [
  [
    'a number that Twilio refuses',
    { status: 400, body: INVALID },
    'failed',
    /400: Invalid 'To' Phone Number \(21211\)/,
  ],
  ['too many requests', { status: 429, body: { code: 20429, message: 'Too Many Requests' } }, 'scheduled', /429/],
  ['a fault of the provider', { status: 500, body: {} }, 'scheduled', /500/],
  ['a refused login', { status: 401, body: { code: 20003, message: 'Authenticate' } }, 'scheduled', /401/],
  ['a redirection', { status: 302, body: {} }, 'scheduled', /302/],
  ['no answer', 'hang', 'failed', /no answer within 0.3 s\. It may have gone out\./],
  ['a connection that breaks', 'break', 'failed', /It may have gone out\./],
  ['a gateway that has waited in vain', { status: 504, body: {} }, 'failed', /504.* It may have gone out\./],
  ['an answer that breaks off behind its status', 'cut', 'sent', /^$/],
];

for (const [why, given, state, reason] of FAULTS) {
  test(`${why} leaves the SMS ${state}, with the reason`, async () => {
    answer = given;
    const message = await book(await app.company());
    const sms = smsSender(twilio({ ...TWILIO, ...(given === 'hang' && { timeoutMs: 300 }) }));
    await messageWorker(app, { sms }).runOnce();
    const seen = await message();
    assert.equal(seen.state, state);
    assert.match(seen.last_error ?? '', reason);
    assert.ok(!seen.last_error?.includes('secret'));
    assert.equal(requests.length, 1);
  });
}

test('a provider that does not answer or cannot be resolved is a temporary fault', async () => {
  for (const baseUrl of [`http://127.0.0.1:${await freePort()}`, 'http://127.0.0.1:9', 'http://sms.invalid']) {
    const message = await book(await app.company());
    await messageWorker(app, { sms: smsSender(twilio({ ...TWILIO, baseUrl })) }).runOnce();
    assert.equal((await message()).state, 'scheduled', baseUrl);
  }
});

test('an SMS whose answer comes too late is sent once, and once more only by hand', async () => {
  answer = 'hang';
  const company = await app.company();
  const message = await book(company);
  const late = messageWorker(app, { sms: smsSender(twilio({ ...TWILIO, timeoutMs: 100 })) });
  await late.runOnce();
  for (let hour = 0; hour < 30; hour++) {
    app.clock.advance({ hours: 1 });
    assert.equal(await late.runOnce(), 0);
  }
  // On a loaded machine the time can pass before the request arrives.
  const sent = requests.length;
  assert.ok(sent <= 1);
  const { id, appointment_id } = await message();
  const again = await company.post(`${company.path}/appointments/${appointment_id}/messages/${id}/resend`);
  assert.equal(again.status, 200, again.text);
  answer = { status: 201, body: { sid: 'SM1' } };
  await messageWorker(app, { sms: smsSender(twilio(TWILIO)) }).runOnce();
  assert.equal(requests.length, sent + 1);
});

test('a gateway gets the template filled in, and no text breaks out of its place', async () => {
  const company = await app.company();
  answer = { status: 200, body: { message_id: 77 } };
  const body = '{"to":"{{to}}","msg":{"text":"{{text}}","from":"{{from}}","ref":"{{id}}"}}';
  const sms = smsSender(gateway({ url, headers: { 'X-Key': 'k' }, body, from: 'Firm' }));
  const message = await book(company, { location: 'Room "1"\n\\{{to}}' });
  await messageWorker(app, { sms }).runOnce();
  const [{ request, body: sent } = assert.fail()] = requests;
  const { id, state } = await message();
  assert.equal(state, 'sent');
  assert.equal(request.headers['x-key'], 'k');
  assert.equal(request.headers['content-type'], 'application/json');
  const text = 'Smith & Partners: your appointment is on Mon 29 Jun, 14:30-15:30 BST, Room "1", \\{{to}}.';
  assert.deepEqual(JSON.parse(sent), { to: '+447400123456', msg: { text, from: 'Firm', ref: id } });
  assert.deepEqual(await app.sql('SELECT provider_id FROM messages WHERE id = $1', [id]), [{ provider_id: '77' }]);
});

test('a form is escaped as one, however its type is written', async () => {
  answer = { status: 204, body: '' };
  const headers = { 'Content-Type': 'Application/X-WWW-Form-Urlencoded; charset=utf-8' };
  const sms = smsSender(gateway({ url, headers, body: 'to={{to}}&text={{text}}', from: '' }));
  await book(await app.company(), { location: 'A & B = C' });
  await messageWorker(app, { sms }).runOnce();
  const sent = new URLSearchParams(requests[0]?.body);
  assert.match(sent.get('text') ?? '', /A & B = C/);
  assert.deepEqual([...sent.keys()], ['to', 'text']);
});

test('a number that has become impossible fails without asking the provider', async () => {
  const company = await app.company();
  const message = await book(company);
  await app.sql(`UPDATE appointments SET sms_recipient = '12' WHERE company_id = $1`, [company.companyId]);
  await twilioOffice.runOnce();
  assert.equal((await message()).state, 'failed');
  assert.deepEqual(requests, []);
});

test('by default an SMS is a file in the outbox, with the number in E.164', async () => {
  const folder = await temporaryDirectory();
  after(folder.remove);
  await book(await app.company());
  await messageWorker(app, { sms: smsOutboxSender(folder.path) }).runOnce();
  const [name = ''] = await readdir(folder.path);
  assert.match(name, /^2026-06-01T090000Z-.+\.sms\.json$/);
  const { to, segments: count } = JSON.parse(await readFile(`${folder.path}/${name}`, 'utf8'));
  assert.deepEqual([to, count], ['+447400123456', 1]);
});

// Settings

test('settings that a provider needs, and settings that cannot be right, are named at the start', () => {
  const faults = (env: Record<string, string>) => {
    try {
      readConfig(env);
      return [];
    } catch (error) {
      return (error as { faults: string[] }).faults.map((fault) => fault.split(' ', 1)[0]);
    }
  };
  assert.deepEqual(faults({ SMS_PROVIDER: 'twilio' }), ['TWILIO_ACCOUNT_SID', 'TWILIO_AUTH_TOKEN', 'TWILIO_FROM']);
  assert.deepEqual(faults({ SMS_PROVIDER: 'gateway' }), ['SMS_GATEWAY_URL']);
  for (const [name, value] of [
    ['SMTP_URL', 'http://x'],
    ['MAIL_FROM', 'A <a@b.c>'],
    ['MAIL_DOMAIN', 'a b'],
    ['SMS_GATEWAY_HEADERS', '[]'],
    ['SMS_GATEWAY_HEADERS', '{"a": 1}'],
    ['SMS_GATEWAY_HEADERS', '{"a": "x\\ny"}'],
    ['SMS_GATEWAY_HEADERS', '{"content-type": "text/xml"}'],
    ['TWILIO_BASE_URL', 'ftp://x'],
  ] as const) {
    assert.deepEqual(faults({ [name]: value }), [name], `${name}=${value}`);
  }
});
