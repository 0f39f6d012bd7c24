import assert from 'node:assert/strict';
import { after, beforeEach, test } from 'node:test';
import type { Sms } from '../src/cases/appointments/messages/sms.ts';
import { smsSender } from '../src/cases/appointments/messages/sms.ts';
import { startApp, type TestCompany } from './harness/app.ts';
import { ok } from './harness/assert.ts';
import { booking } from './harness/bodies.ts';
import { mailServer, readMail } from './harness/mail-server.ts';
import { messageWorker } from './harness/message-worker.ts';

/** Messages that a company has written in its own words, as clients get them. */

const app = await startApp();
const server = await mailServer();
after(() => server.close());
const texts: Sms[] = [];
const sms = smsSender(async (sent) => {
  texts.push(sent);
  return null;
});
const worker = messageWorker(app, { mail: { smtpUrl: server.url }, sms });
const TEMPLATES = '/manage/message-templates';
const TEXT = '{{start}}|{{location}}|{{join_url}}';

beforeEach(async () => {
  app.clock.set('2026-06-01T09:00:00Z');
  await app.sql(`UPDATE messages SET state = 'cancelled' WHERE state IN ('scheduled', 'sending')`);
  server.mails.length = 0;
  texts.length = 0;
});

async function book(company: TestCompany, fields: Record<string, unknown> = {}): Promise<string> {
  const to = { email_recipient: company.customers[0].email, sms_recipient: '07400 123456' };
  const wanted = { email_confirmation: true, sms_confirmation: true };
  const { id } = await ok(
    company.post(`${company.path}/appointments`, booking(company, { ...to, ...wanted, location: 'Room 2', ...fields })),
  );
  return `${company.path}/appointments/${id}`;
}

const ownTexts = (company: TestCompany, message: string, word: string) =>
  ok(
    company.patch(`${TEMPLATES}/${message}`, {
      subject: `${word} of {{company}}`,
      email_text: `${word} <b>${TEXT}</b>\n\n{{#client}}{{client}}{{/client}}`,
      sms_text: `${word} ${TEXT}`,
    }),
  );

const sent = () => {
  const mails = server.mails.splice(0).map(({ raw }) => readMail(raw));
  const shown = mails.map(({ headers, parts }) => [
    headers.subject,
    parts['text/plain']?.trim().replaceAll('\r', ''),
    parts['text/html'],
  ]);
  return { mails: shown, sms: texts.splice(0).map(({ text }) => text) };
};

test('a message goes out in the words of its company, with an HTML part made from them, and others as usual', async () => {
  const [company, other] = [await app.company(), await app.company()];
  await ownTexts(company, 'confirmation', 'Welcome');
  await book(company);
  await worker.runOnce();
  const {
    mails: [[subject, text, html] = []],
    sms,
  } = sent();
  assert.equal(subject, 'Welcome of Smith & Partners');
  assert.equal(text, 'Welcome <b>Wednesday 10 June 2026, 10:00|Room 2|</b>\n\nMr John Smith');
  assert.match(html ?? '', /Welcome &lt;b&gt;Wednesday 10 June 2026, 10:00\|Room 2\|&lt;\/b&gt;/);
  assert.match(html ?? '', /<p[^>]*>Mr John Smith<\/p>/);
  assert.deepEqual(sms, ['Welcome Wednesday 10 June 2026, 10:00|Room 2|']);
  await book(other);
  await worker.runOnce();
  assert.equal(sent().mails[0]?.[0], 'Your appointment on Wednesday 10 June 2026, 10:00');
});

test('a moved appointment is confirmed with the words for a change, and each other message with its own', async () => {
  const company = await app.company();
  for (const message of ['confirmation', 'change', 'reminder', 'cancellation'])
    await ownTexts(company, message, message);
  const path = await book(company, { email_notification: true, sms_notification: true });
  await worker.runOnce();
  await ok(
    company.patch(path, {
      start_time: '2026-06-10 12:00',
      end_time: '2026-06-10 13:00',
      email_confirmation: true,
      sms_confirmation: true,
    }),
  );
  await worker.runOnce();
  app.clock.set('2026-06-09T11:00:00Z');
  await worker.runOnce();
  await ok(company.delete(path));
  await worker.runOnce();
  const { mails, sms } = sent();
  const first = (text = '') => text.split(' ')[0];
  const words = ['confirmation', 'change', 'reminder', 'cancellation'];
  assert.deepEqual([mails.map(([subject]) => first(subject)), sms.map(first)], [words, words]);
});

test('words that change while a message waits are used, and so is the default when it is back', async () => {
  const company = await app.company();
  await book(company);
  await ownTexts(company, 'confirmation', 'Late');
  await worker.runOnce();
  assert.equal(sent().mails[0]?.[0], 'Late of Smith & Partners');
  await book(company);
  await ok(company.delete(`${TEMPLATES}/confirmation`));
  await worker.runOnce();
  const { mails, sms } = sent();
  assert.equal(mails[0]?.[0], 'Your appointment on Wednesday 10 June 2026, 10:00');
  assert.match(sms[0] ?? '', /^Smith & Partners: your appointment is on/);
});

test('a stored text that this release cannot read never keeps a message from going out', async () => {
  const company = await app.company();
  await ownTexts(company, 'confirmation', 'Fine');
  // As an earlier or a later release could have stored it, which knows other fields.
  await app.sql(
    `UPDATE message_templates SET subject = 'At {{room}}', email_text = '{{#start}}' WHERE company_id = $1`,
    [company.companyId],
  );
  await book(company);
  await worker.runOnce();
  const { mails, sms } = sent();
  assert.equal(mails[0]?.[0], 'Your appointment on Wednesday 10 June 2026, 10:00');
  assert.match(mails[0]?.[1] ?? '', /Your appointment has been booked/);
  assert.deepEqual(sms, ['Fine Wednesday 10 June 2026, 10:00|Room 2|']);
});

test('a text that is too long for an SMS gives way to the default', async () => {
  const company = await app.company();
  await ok(company.patch(`${TEMPLATES}/confirmation`, { sms_text: `${TEXT} {{location}}{{location}}` }));
  await book(company, { location: 'x'.repeat(700) });
  await worker.runOnce();
  assert.match(sent().sms[0] ?? '', /^Smith & Partners: .*x{700}/);
});

test('reading the words takes no statement of its own', async () => {
  const company = await app.company();
  const count = async () => {
    await book(company, { sms_confirmation: false });
    const statements: string[] = [];
    const queries = app.db.run;
    app.db.run = (query) => {
      statements.push(query.statement.name);
      return queries.call(app.db, query) as never;
    };
    try {
      await worker.runOnce();
    } finally {
      app.db.run = queries;
    }
    // Claims depend on timing, and the notification is that of the booking.
    return new Set(statements.filter((name) => !name.startsWith('due_work')));
  };
  const before = await count();
  await ownTexts(company, 'confirmation', 'Own');
  assert.deepEqual(await count(), before);
  assert.equal(sent().mails[1]?.[0], 'Own of Smith & Partners');
});
