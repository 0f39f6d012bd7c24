import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, beforeEach, test } from 'node:test';
import pino from 'pino';
import { emailSender } from '../src/cases/appointments/messages/email.ts';
import { DeliveryError } from '../src/cases/appointments/messages/message.ts';
import { type Sms, smsSender } from '../src/cases/appointments/messages/sms.ts';
import { purgeTestMessages, testMessageQueue } from '../src/cases/appointments/messages/test-messages/queue.ts';
import { JobWorker } from '../src/kernel/jobs/job-worker.ts';
import { holdRestored } from '../src/server/restored-database.ts';
import { startApp, type TestCompany } from './harness/app.ts';
import { ok, refused } from './harness/assert.ts';
import { booking } from './harness/bodies.ts';
import { commandOutput } from './harness/command-line.ts';
import { mailServer, readMail } from './harness/mail-server.ts';
import { urlOf } from './harness/service.ts';

/** Test messages: what a company sends to itself to see its words arrive. */

const app = await startApp();
const server = await mailServer();
const texts: Sms[] = [];
let smsFault: DeliveryError | undefined;
const settings = { from: 'no-reply@service.example', domain: 'service.example', outbox: '/nowhere' };
const email = emailSender({ ...settings, smtpUrl: server.url });
const sms = smsSender(async (sent) => {
  if (smsFault) throw smsFault;
  texts.push(sent);
  return null;
});
after(() => {
  email.close();
  return server.close();
});
const { db, connection, clock } = app;
const common = { db, clock: clock.read, logger: pino({ level: 'silent' }) };
const queue = testMessageQueue({ ...common, senders: { email, sms }, random: () => 0.5 });
const worker = new JobWorker({ ...common, connection, queues: [queue] });
const REMINDER = '/manage/message-templates/reminder';
const TEXT = '{{start}}{{location}}{{join_url}}';

beforeEach(async () => {
  clock.set('2026-06-01T09:00:00Z');
  await app.sql('DELETE FROM test_messages');
  server.mails.length = 0;
  texts.length = 0;
  smsFault = undefined;
  server.onRecipient = () => undefined;
});

const send = (company: TestCompany, body: object) => company.post(`${REMINDER}/test`, body);
const listed = (company: TestCompany) => ok(company.get('/manage/test-messages'));

test('a test goes to the address and the number, marked as one, with what the preview shows', async () => {
  const company = await app.company();
  await ok(
    company.patch('/manage/company', {
      sender_name: 'Smith',
      sender_address: 'office@smith.example',
      client_contact_email: 'ask@smith.example',
    }),
  );
  await ok(company.patch(REMINDER, { subject: 'See you', sms_text: `Soon ${TEXT}` }));
  const preview = await ok(company.post(`${REMINDER}/preview`));
  const queued = await ok(send(company, { email: 'me@smith.example', phone: '07400 123456' }));
  const shared = { message: 'reminder', attempts: 0, last_error: null, created_at: '2026-06-01T09:00:00.000000Z' };
  assert.deepEqual(
    queued.map(({ id, ...rest }: { id: string }) => rest),
    [
      { ...shared, channel: 'email', recipient: 'me@smith.example', state: 'scheduled', sent_at: null },
      { ...shared, channel: 'sms', recipient: '+447400123456', state: 'scheduled', sent_at: null },
    ],
  );
  assert.equal(await worker.runOnce(), 2);
  const [mail] = server.mails;
  const { headers, parts } = readMail(mail?.raw ?? '');
  assert.deepEqual([mail?.from, mail?.to], ['office@smith.example', 'me@smith.example']);
  assert.equal(headers.from, 'Smith <office@smith.example>');
  assert.equal(headers['reply-to'], 'Smith <ask@smith.example>');
  assert.equal(headers.subject, '[Test] See you');
  const note = 'This is a test of a message of Smith & Partners. It is about no appointment of yours.';
  const text = parts['text/plain']?.replaceAll('\r', '') ?? '';
  assert.equal(text.trim(), `${note}\n\n${preview.email_text}`.trim());
  assert.ok(parts['text/html']?.includes(note.replace('&', '&amp;')));
  assert.deepEqual(
    texts.map(({ to, text }) => [to, text]),
    [['+447400123456', `TEST: ${preview.sms_text}`]],
  );
  const done = await listed(company);
  assert.deepEqual(
    done.map((one: Record<string, unknown>) => [one.state, one.attempts, one.sent_at]),
    Array(2).fill(['sent', 1, '2026-06-01T09:00:00.000000Z']),
  );
  assert.equal(await worker.runOnce(), 0);
});

test('a test has no calendar entry, and is no message of the appointment whose values it has', async () => {
  const company = await app.company();
  const { id } = await ok(company.post(`${company.path}/appointments`, booking(company, { location: 'Room 9' })));
  await ok(send(company, { email: 'me@smith.example', case_id: company.caseId, appointment_id: id }));
  await worker.runOnce();
  const { parts } = readMail(server.mails[0]?.raw ?? '');
  assert.match(parts['text/plain'] ?? '', /Where: Room 9/);
  assert.equal(parts['text/calendar'], undefined);
  assert.deepEqual(await ok(company.get(`${company.path}/appointments/${id}/messages`)), []);
});

test('texts that are not stored can be tested, and their faults are named', async () => {
  const company = await app.company();
  await ok(send(company, { subject: 'Draft', email: 'me@smith.example' }));
  await worker.runOnce();
  assert.equal(readMail(server.mails[0]?.raw ?? '').headers.subject, '[Test] Draft');
  assert.deepEqual((await ok(company.get(REMINDER))).own, []);
  await refused(send(company, { subject: '{{x}}', email: 'me@smith.example' }), { subject: 'format' });
});

test('a test needs an address or a number, each of which must be one', async () => {
  const company = await app.company();
  await refused(send(company, {}), { email: 'required' });
  await refused(send(company, { email: 'me', phone: '12' }), { email: 'format', phone: 'format' });
  await refused(send(company, { email: 'a@b.example, c@d.example' }), { email: 'format' });
  await refused(send(company, { email: 'me@smith.example\r\nBcc: all@smith.example' }), { email: 'format' });
  await refused(send(company, { email: '', phone: null }), { email: 'format' });
  await refused(send(company, { phone: 5 }), { phone: 'type' });
  assert.deepEqual(await listed(company), []);
});

test('a company sends at most 50 tests in 24 hours, however many requests come at once', async () => {
  const [company, other] = [await app.company(), await app.company()];
  const body = { email: 'me@smith.example', phone: '07400 123456' };
  const answers = await Promise.all(Array.from({ length: 30 }, () => send(company, body)));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [...Array(25).fill(200), ...Array(5).fill(400)]);
  await refused(send(company, { email: 'me@smith.example' }), { body: 'too_many' });
  await ok(send(other, body));
  clock.set('2026-06-02T08:59:59Z');
  await refused(send(company, body), { body: 'too_many' });
  clock.set('2026-06-02T09:00:00Z');
  await ok(send(company, body));
});

test('a test that is refused for good fails, one that is refused for now is tried again for an hour', async () => {
  const company = await app.company();
  server.onRecipient = (to) => ({ refuse: to.startsWith('never') ? 550 : 450, text: 'no luck' });
  await ok(send(company, { email: 'never@smith.example' }));
  await ok(send(company, { email: 'later@smith.example' }));
  await worker.runOnce();
  const states = async () =>
    Object.fromEntries((await listed(company)).map((one: Record<string, string>) => [one.recipient, one]));
  const first = await states();
  assert.deepEqual([first['never@smith.example'].state, first['later@smith.example'].state], ['failed', 'scheduled']);
  assert.match(first['later@smith.example'].last_error, /no luck/);
  clock.advance({ seconds: 9 });
  assert.equal(await worker.runOnce(), 0);
  clock.advance({ seconds: 1 });
  server.onRecipient = () => undefined;
  assert.equal(await worker.runOnce(), 1);
  const second = await states();
  assert.deepEqual([second['later@smith.example'].state, second['later@smith.example'].last_error], ['sent', null]);
  server.onRecipient = () => ({ refuse: 450 });
  await ok(send(company, { email: 'late@smith.example' }));
  for (let minutes = 0; minutes <= 60; minutes++) {
    await worker.runOnce();
    clock.advance({ minutes: 1 });
  }
  assert.equal((await states())['late@smith.example'].state, 'failed');
});

test('an SMS that may have gone out is not sent again', async () => {
  const company = await app.company();
  smsFault = new DeliveryError('no answer', { permanent: false, uncertain: true });
  await ok(send(company, { phone: '07400 123456' }));
  await worker.runOnce();
  const [failed] = await listed(company);
  assert.deepEqual([failed.state, failed.attempts, failed.last_error], ['failed', 1, 'no answer']);
});

test('test messages are listed newest first, in pages, to their company, and are deleted after 30 days', async () => {
  const [company, other] = [await app.company(), await app.company()];
  for (let n = 1; n <= 3; n++) {
    await ok(send(company, { email: `${n}@smith.example` }));
    clock.advance({ minutes: 1 });
  }
  const recipients = async (query = '') =>
    (await ok(company.get(`/manage/test-messages${query}`))).map(({ recipient }: { recipient: string }) => recipient);
  assert.deepEqual(await recipients(), ['3@smith.example', '2@smith.example', '1@smith.example']);
  assert.deepEqual(await recipients('?page=2&per_page=2'), ['1@smith.example']);
  assert.equal((await company.get('/manage/test-messages?per_page=2')).headers['x-total-count'], '3');
  assert.deepEqual(await listed(other), []);
  await refused(company.get('/manage/test-messages?page=0'), { page: 'format' });
  await worker.runOnce();
  clock.advance({ hours: 30 * 24 });
  await purgeTestMessages(db, clock.read);
  assert.equal((await recipients()).length, 3);
  clock.advance({ seconds: 1 });
  await purgeTestMessages(db, clock.read);
  assert.deepEqual(await recipients(), []);
});

test('after a restore a test that was to go out waits until it is released', async () => {
  const company = await app.company();
  await ok(send(company, { email: 'me@firm.example' }));
  const restore = { id: randomUUID(), stateAt: clock.read() };
  const found = await holdRestored({ owner: connection, clock: clock.read }, restore);
  assert.equal(found['test-messages'], 1);
  assert.equal(await worker.runOnce(), 0);
  const env = { DATABASE_URL: urlOf(connection) };
  assert.match(await commandOutput(env, 'held', 'list', '--kind', 'test-messages'), /email reminder, to me@firm/);
  await commandOutput(env, 'held', 'release', '--kind', 'test-messages');
  await worker.runOnce();
  assert.equal(server.mails.length, 1);
});
