import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { after, beforeEach, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { startApp, type TestCompany } from './harness/app.ts';
import { ok } from './harness/assert.ts';
import { mailServer, readMail } from './harness/mail-server.ts';
import { messageWorker } from './harness/message-worker.ts';
import { temporaryDirectory } from './harness/service.ts';
import { until } from './harness/until.ts';

const app = await startApp();
const server = await mailServer();
after(() => server.close());
const worker = messageWorker(app, { mail: { smtpUrl: server.url } });

beforeEach(async () => {
  app.clock.set('2026-06-01T09:00:00Z');
  // Messages that another test left waiting are not sent here.
  await app.sql(`UPDATE messages SET state = 'cancelled' WHERE state IN ('scheduled', 'sending')`);
  server.mails.length = 0;
  server.onRecipient = () => undefined;
  server.onMessage = () => undefined;
});

type Fields = Record<string, unknown>;

async function book(company: TestCompany, more: Fields = {}) {
  const answer = await company.post(`${company.path}/appointments`, {
    adviser_email: company.adviser,
    start_time: '2026-06-29 14:30:00',
    end_time: '2026-06-29 15:30:00',
    email_recipient: company.customers[0].email,
    email_confirmation: true,
    ...more,
  });
  assert.equal(answer.status, 200, answer.text);
  return { id: answer.body.id as string, path: `${company.path}/appointments/${answer.body.id}` };
}

async function messages(company: TestCompany, path: string) {
  const answer = await company.get(`${path}/messages`);
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
}

const sentMail = () => {
  assert.equal(server.mails.length, 1);
  return readMail(server.mails[0]?.raw ?? '');
};

test('a confirmation is sent in the name of the company, as text and HTML, with times in its zone', async () => {
  const company = await app.company();
  const { path } = await book(company, { location: '1 High Street <b>& "Co"</b>' });
  assert.equal(await worker.runOnce(), 1);
  const { headers, parts } = sentMail();
  assert.equal(headers.from, '"Smith & Partners" <no-reply@service.example>');
  assert.match(headers.to ?? '', new RegExp(company.customers[0].email));
  assert.equal(headers.subject, 'Your appointment on Monday 29 June 2026, 14:30');
  const when = 'Monday 29 June 2026, 14:30–15:30 (British Summer Time)';
  assert.ok(parts['text/plain']?.includes(`When: ${when}`), String(parts['text/plain']));
  assert.ok(parts['text/plain']?.includes('Where: 1 High Street <b>& "Co"</b>'));
  assert.ok(parts['text/html']?.replace(/<span[^>]*>|<\/span>/g, '').includes(when));
  assert.ok(parts['text/html']?.includes('1 High Street &lt;b&gt;&amp; &quot;Co&quot;&lt;/b&gt;'));
  assert.ok(!/src=|url\(|<link|<script/i.test(parts['text/html'] ?? ''), 'nothing is fetched');
  const [message] = await messages(company, path);
  assert.deepEqual(
    [message.state, message.attempts, message.sent_to, message.sent_at, message.last_error],
    ['sent', 1, company.customers[0].email, '2026-06-01T09:00:00.000000Z', null],
  );
});

test('the sender is the one that the company has set', async () => {
  const company = await app.company();
  await app.sql('UPDATE companies SET sender_name = $2, sender_address = $3 WHERE id = $1', [
    company.companyId,
    'Smith Wills',
    'hello@smith.example',
  ]);
  await book(company);
  await worker.runOnce();
  assert.equal(sentMail().headers.from, 'Smith Wills <hello@smith.example>');
  assert.equal(server.mails[0]?.from, 'hello@smith.example');
});

test('replies go to the email for clients; without one there is no other address for replies', async () => {
  const company = await app.company();
  await book(company);
  await worker.runOnce();
  assert.equal(sentMail().headers['reply-to'], undefined);
  server.mails.length = 0;
  const manager = await company.withScopes('manage');
  await ok(manager.patch('/manage/company', { client_contact_email: 'clients@smith.example' }));
  await book(company);
  await worker.runOnce();
  assert.equal(sentMail().headers['reply-to'], '"Smith & Partners" <clients@smith.example>');
  assert.ok(sentMail().parts['text/plain']?.includes('To change or cancel this appointment, reply to this email.'));
});

test('the meeting link is in text, HTML and invite', async () => {
  const company = await app.company();
  const { id } = await book(company);
  await app.sql('UPDATE appointments SET join_url = $2 WHERE id = $1', [id, 'https://meet.example/a?b=1&c=2']);
  await worker.runOnce();
  const { parts } = sentMail();
  assert.ok(parts['text/plain']?.includes('https://meet.example/a?b=1&c=2'));
  assert.ok(parts['text/html']?.includes('href="https://meet.example/a?b=1&amp;c=2"'));
  assert.ok(parts['text/calendar']?.includes('URL;VALUE=URI:https://meet.example/a?b=1&c=2'));
});

test('a confirmation waits while the meeting is being made, and is sent with the link once it is set free', async () => {
  const company = await app.company();
  const { id, path } = await book(company);
  await app.sql('UPDATE appointments SET meeting_pending = true WHERE id = $1', [id]);
  await worker.runOnce();
  app.clock.advance({ minutes: 14, seconds: 59 });
  assert.equal(await worker.runOnce(), 0);
  assert.deepEqual(server.mails, []);
  const [waiting] = await messages(company, path);
  assert.deepEqual([waiting.state, waiting.attempts], ['scheduled', 0]);
  await app.sql('UPDATE appointments SET meeting_pending = false, join_url = $2 WHERE id = $1', [
    id,
    'https://m.example/x',
  ]);
  await app.sql('UPDATE messages SET lease_until = NULL WHERE appointment_id = $1', [id]);
  await worker.runOnce();
  assert.ok(sentMail().parts['text/plain']?.includes('https://m.example/x'));
});

test('a confirmation whose meeting is not made within 15 minutes is sent without a link', async () => {
  const company = await app.company();
  const { id } = await book(company);
  await app.sql('UPDATE appointments SET meeting_pending = true WHERE id = $1', [id]);
  await worker.runOnce();
  app.clock.advance({ minutes: 15 });
  await worker.runOnce();
  assert.ok(!sentMail().parts['text/plain']?.includes('Join online'));
});

test('a reminder does not wait for a meeting', async () => {
  const company = await app.company();
  const { id } = await book(company, { email_confirmation: false, email_notification: true });
  await app.sql('UPDATE appointments SET meeting_pending = true WHERE id = $1', [id]);
  app.clock.set('2026-06-28T13:30:00Z');
  await worker.runOnce();
  assert.match(sentMail().headers.subject ?? '', /^Reminder/);
});

test('the invite keeps its UID, raises SEQUENCE when the appointment moves, and is cancelled when it is deleted', async () => {
  const company = await app.company();
  const { id, path } = await book(company, { location: 'Room 1\r\nFloor; 2, west' });
  await worker.runOnce();
  await company.patch(path, {
    start_time: '2026-06-30 10:00:00',
    end_time: '2026-06-30 11:00:00',
    email_confirmation: true,
  });
  await worker.runOnce();
  assert.equal((await company.delete(path)).status, 200);
  await worker.runOnce();
  const entries = server.mails.map(({ raw }) => (readMail(raw).parts['text/calendar'] ?? '').replaceAll('\r\n ', ''));
  assert.deepEqual(
    entries.map((entry) => /METHOD:(\w+)/.exec(entry)?.[1]),
    ['REQUEST', 'REQUEST', 'CANCEL'],
  );
  assert.deepEqual(new Set(entries.map((entry) => /UID:(\S+)/.exec(entry)?.[1])), new Set([`${id}@service.example`]));
  const sequences = entries.map((entry) => Number(/SEQUENCE:(\d+)/.exec(entry)?.[1]));
  assert.deepEqual(
    sequences,
    [...new Set(sequences)].sort((a, b) => a - b),
  );
  assert.match(entries[0] ?? '', /DTSTART:20260629T133000Z\r\nDTEND:20260629T143000Z/);
  assert.match(entries[1] ?? '', /DTSTART:20260630T090000Z/);
  assert.match(entries[0] ?? '', /LOCATION:Room 1\\nFloor\\; 2\\, west\r\n/);
  assert.match(entries[2] ?? '', /STATUS:CANCELLED/);
  assert.ok(entries.every((entry) => entry.toLowerCase().includes(`mailto:${company.customers[0].email}`)));
  assert.equal(server.mails[2]?.to, company.customers[0].email);
});

test('no cancellation is sent if no confirmation was sent, nor for an appointment that is over', async () => {
  const company = await app.company();
  const early = await book(company);
  await company.delete(early.path);
  const asked = await book(company, { email_confirmation: false });
  await company.delete(asked.path);
  const over = await book(company);
  await worker.runOnce();
  assert.equal(server.mails.length, 1);
  app.clock.set('2026-06-29T14:30:00Z');
  await company.delete(over.path);
  await worker.runOnce();
  assert.equal(server.mails.length, 1);
});

test('a reminder has no invite', async () => {
  const company = await app.company();
  await book(company, { email_confirmation: false, email_notification: true });
  app.clock.set('2026-06-28T13:30:00Z');
  await worker.runOnce();
  const { headers, parts } = sentMail();
  assert.equal(headers.subject, 'Reminder: your appointment on Monday 29 June 2026, 14:30');
  assert.deepEqual(Object.keys(parts).sort(), ['text/html', 'text/plain']);
});

for (const [what, end] of Object.entries({ 'CR LF': '\r\n', CR: '\r', LF: '\n' })) {
  test(`line breaks by ${what} in any field make no header, no address and no line of the invite`, async () => {
    const company = await app.company();
    const evil = `x${end}Bcc: spy@evil.example${end}${end}ATTENDEE:mailto:spy@evil.example`;
    await app.sql('UPDATE companies SET name = $2, sender_name = $2 WHERE id = $1', [company.companyId, evil]);
    await app.sql('UPDATE customers SET last_name = $2 WHERE company_id = $1', [company.companyId, evil]);
    await app.sql('UPDATE advisers SET name = $2 WHERE company_id = $1', [company.companyId, evil]);
    const { id } = await book(company, { location: evil });
    await app.sql('UPDATE appointments SET join_url = $2 WHERE id = $1', [id, `https://m.example/${evil}`]);
    await worker.runOnce();
    const { headers, parts } = sentMail();
    assert.equal(headers.bcc, undefined);
    assert.equal(server.mails[0]?.to, company.customers[0].email);
    for (const line of (parts['text/calendar'] ?? '').replaceAll('\r\n ', '').split(/\r\n|\r|\n/)) {
      assert.ok(!/^(Bcc|ATTENDEE:mailto:spy)/i.test(line), line);
    }
  });
}

test('an address with a line break or a comma reaches no other recipient', async () => {
  const company = await app.company();
  for (const address of ['a@x.example, spy@evil.example', 'a@x.example\r\nBcc: spy@evil.example']) {
    const { id, path } = await book(company);
    await app.sql('UPDATE appointments SET email_recipient = $2 WHERE id = $1', [id, address]);
    await worker.runOnce();
    for (const { to, raw } of server.mails) {
      assert.ok(!to.split(', ').includes('spy@evil.example'), to);
      assert.equal(readMail(raw).headers.bcc, undefined);
    }
    assert.ok(['sent', 'failed'].includes((await messages(company, path))[0].state));
  }
});

for (const [refuse, state, where] of [
  [550, 'failed', 'recipient'],
  [554, 'failed', 'message'],
  [450, 'scheduled', 'recipient'],
  [451, 'scheduled', 'message'],
  [421, 'scheduled', 'message'],
] as const) {
  test(`a ${where} that the server refuses with ${refuse} leaves the message ${state}, with the reason`, async () => {
    const company = await app.company();
    const { path } = await book(company);
    const behaviour = () => ({ refuse, text: 'for a reason' });
    if (where === 'recipient') server.onRecipient = behaviour;
    else server.onMessage = behaviour;
    await worker.runOnce();
    const [message] = await messages(company, path);
    assert.equal(message.state, state);
    assert.match(message.last_error, new RegExp(`${refuse}.*for a reason`));
    assert.equal((await company.patch(path, {})).body.email_confirmation, state);
    server.onRecipient = server.onMessage = () => undefined;
    app.clock.advance({ minutes: 1 });
    await worker.runOnce();
    assert.equal((await messages(company, path))[0].state, state === 'failed' ? 'failed' : 'sent');
    assert.equal(server.mails.length, state === 'failed' ? 0 : 1);
  });
}

test('a connection that breaks when the message has come whole is one attempt, with the same Message-ID the next time', async () => {
  const company = await app.company();
  const { path } = await book(company);
  const seen: string[] = [];
  server.onMessage = ({ raw }) => {
    seen.push(readMail(raw).headers['message-id'] ?? '');
    return { drop: true };
  };
  await worker.runOnce();
  assert.equal(seen.length, 1);
  const [message] = await messages(company, path);
  assert.deepEqual([message.state, message.attempts], ['scheduled', 1]);
  server.onMessage = () => undefined;
  app.clock.advance({ seconds: 15 });
  await worker.runOnce();
  assert.deepEqual([sentMail().headers['message-id']], seen);
  assert.equal(seen[0], `<${message.id}@service.example>`);
});

test('a server that is not there or never answers is a temporary fault', async () => {
  const silent = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => silent.once('listening', resolve));
  const { port } = silent.address() as { port: number };
  const timeouts = { greetingMs: 50, connectionMs: 50 };
  for (const smtpUrl of ['smtp://127.0.0.1:9', `smtp://127.0.0.1:${port}`]) {
    const company = await app.company();
    const { path } = await book(company);
    await messageWorker(app, { mail: { smtpUrl, timeouts } }).runOnce();
    const [message] = await messages(company, path);
    assert.equal(message.state, 'scheduled');
    assert.match(message.last_error, /could not be used/);
  }
  silent.close();
});

test('a server that takes a command and answers no more is abandoned after the whole time, and its connection closed', async () => {
  const company = await app.company();
  const { path } = await book(company);
  server.onRecipient = () => ({ hang: true });
  await messageWorker(app, { mail: { smtpUrl: server.url, timeouts: { transferMs: 200 } } }).runOnce();
  const [message] = await messages(company, path);
  assert.deepEqual([message.state, message.last_error], ['scheduled', 'The mail server took too long.']);
});

test('a server that has the message whole is waited for', async () => {
  const company = await app.company();
  let handedOver = 0;
  server.onMessage = () => {
    handedOver++;
    return { until: pause(1_500) };
  };
  const sending = messageWorker(app, { mail: { smtpUrl: server.url, timeouts: { transferMs: 1_000 } } });
  // On a loaded machine the time can pass before the server has the message.
  const path = await until(async () => {
    const booked = await book(company);
    await sending.runOnce();
    return handedOver > 0 ? booked.path : undefined;
  });
  const [message] = await messages(company, path);
  assert.deepEqual([message.state, message.attempts, handedOver], ['sent', 1, 1]);
});

test('a server that has the message whole and never answers gets it a second time and no third', async () => {
  const company = await app.company();
  const { path } = await book(company);
  let handedOver = 0;
  const impatient = messageWorker(app, {
    mail: { smtpUrl: server.url, timeouts: { responseMs: 100 } },
  });
  // A fault that shows that nothing was sent is not counted.
  server.onMessage = () => ({ refuse: 451 });
  await worker.runOnce();
  server.onMessage = () => {
    handedOver++;
    return { hang: true };
  };
  for (const state of ['scheduled', 'failed', 'failed']) {
    app.clock.advance({ minutes: 5 });
    await impatient.runOnce();
    const [message] = await messages(company, path);
    assert.deepEqual(
      [message.state, message.last_error],
      [state, 'The mail server took too long. It may have gone out.'],
    );
  }
  assert.equal(handedOver, 2);
});

test('a worker that stops does not wait for the answer to a message that the server has', async () => {
  const company = await app.company();
  const { path } = await book(company);
  const { promise: arrived, resolve } = Promise.withResolvers<void>();
  server.onMessage = () => {
    resolve();
    return { hang: true };
  };
  const stopping = messageWorker(app, { mail: { smtpUrl: server.url } });
  await stopping.start();
  await arrived;
  await stopping.stop(10);
  const [message] = await messages(company, path);
  assert.deepEqual([message.state, message.last_error], ['scheduled', 'The worker stopped. It may have gone out.']);
});

test('a refused login is not held against the message', async () => {
  const strict = await mailServer({
    authOptional: false,
    allowInsecureAuth: true,
    onAuth: (_auth, _session, done) => done(Object.assign(new Error('no'), { responseCode: 535 })),
  });
  const company = await app.company();
  const { path } = await book(company);
  await messageWorker(app, { mail: { smtpUrl: `smtp://user:secret@127.0.0.1:${strict.port}` } }).runOnce();
  const [message] = await messages(company, path);
  assert.equal(message.state, 'scheduled');
  assert.ok(!message.last_error.includes('secret'));
  await strict.close();
});

test('STARTTLS is used if the server offers it, and an untrusted certificate is refused', async () => {
  const secure = await mailServer({ hideSTARTTLS: false });
  const company = await app.company();
  const { path } = await book(company);
  await messageWorker(app, { mail: { smtpUrl: secure.url } }).runOnce();
  const [refused] = await messages(company, path);
  assert.equal(refused.state, 'scheduled');
  assert.match(refused.last_error, /certificate|self.signed/i);
  app.clock.advance({ minutes: 1 });
  await messageWorker(app, { mail: { smtpUrl: `${secure.url}?tls.rejectUnauthorized=false` } }).runOnce();
  assert.equal(secure.mails.length, 1);
  await secure.close();
});

test('without a mail server each mail is a file of its own, and one written again replaces itself', async () => {
  const folder = await temporaryDirectory();
  after(folder.remove);
  const outbox = join(folder.path, 'outbox');
  const files = messageWorker(app, { mail: { outbox } });
  const company = await app.company();
  const { path } = await book(company);
  await files.runOnce();
  const [message] = await messages(company, path);
  const name = `2026-06-01T090000Z-${message.id}.eml`;
  assert.deepEqual(await readdir(outbox), [name]);
  const { headers } = readMail(await readFile(join(outbox, name), 'utf8'));
  assert.equal(headers['message-id'], `<${message.id}@service.example>`);
  await app.sql(`UPDATE messages SET state = 'sending' WHERE id = $1`, [message.id]);
  await files.runOnce();
  assert.deepEqual(await readdir(outbox), [name]);
});
