import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { HOSTILE_TEXTS, text } from '../../chaos/input/hostile-texts.ts';
import { type Sms, smsSender } from '../../src/cases/appointments/messages/sms.ts';
import { startApp } from '../harness/app.ts';
import { type MailServer, mailServer, readMail } from '../harness/mail-server.ts';
import { messageWorker } from '../harness/message-worker.ts';

/** Generated names, notes and places appear only as text in the messages. */

const app = await startApp();
const RUNS = 40;

let server: MailServer;
const texts: Sms[] = [];
before(async () => {
  server = await mailServer();
});
after(() => server.close());

const HEADERS = new Set([
  ...['from', 'to', 'reply-to', 'subject', 'message-id', 'date', 'mime-version', 'content-type', 'auto-submitted'],
  ...['content-transfer-encoding', 'x-auto-response-suppress'],
]);
/** The lines of an invite, unfolded. */
const LINES = new Set([
  ...[
    'BEGIN',
    'END',
    'VERSION',
    'PRODID',
    'METHOD',
    'UID',
    'SEQUENCE',
    'DTSTAMP',
    'DTSTART',
    'DTEND',
    'SUMMARY',
    'STATUS',
  ],
  ...[
    'LOCATION',
    'DESCRIPTION',
    'ORGANIZER',
    'ATTENDEE',
    'URL',
    'NAME',
    'X-WR-CALNAME',
    'TZID',
    'TZOFFSETFROM',
    'TZOFFSETTO',
  ],
  ...['TZNAME', 'RRULE', 'CREATED', 'LAST-MODIFIED', 'TRANSP', 'CLASS'],
]);

const names = fc.oneof(text, fc.constantFrom(...HOSTILE_TEXTS));

test('no text makes a header, a recipient or a line of what is sent', async () => {
  const sms = smsSender(async (one) => {
    texts.push(one);
    return null;
  });
  const worker = messageWorker(app, { mail: { smtpUrl: server.url }, sms });
  const company = await app.company();
  const [customer] = company.customers;
  const [adviser] = (await company.get('/manage/advisers')).body;
  const recipient = { email_recipient: customer.email, sms_recipient: '07400 123456' };
  const property = fc.asyncProperty(
    fc.record({
      company: names,
      sender: names,
      adviser: names,
      title: names,
      last: names,
      location: names,
      notes: names,
    }),
    async (told) => {
      server.mails.length = 0;
      texts.length = 0;
      // Each may be refused. What is accepted appears in the message.
      await company.patch('/manage/company', { name: told.company });
      await company.patch('/manage/company', { sender_name: told.sender });
      await company.patch(`/manage/advisers/${adviser.id}`, { name: told.adviser });
      await company.patch(`/manage/cases/${company.caseId}/customers/${customer.id}`, { title: told.title });
      await company.patch(`/manage/cases/${company.caseId}/customers/${customer.id}`, { last_name: told.last });
      const booked = await company.post(`${company.path}/appointments`, {
        ...{ adviser_email: adviser.email, start_time: '2026-08-01 09:00', end_time: '2026-08-01 10:00' },
        ...{ ...recipient, email_confirmation: true, sms_confirmation: true },
        ...{ location: told.location, notes: told.notes },
      });
      assert.equal(booked.status, 200, booked.text);
      await worker.runOnce();
      assert.equal(server.mails.length, 1);
      const [mail] = server.mails;
      assert.equal(mail?.to, customer.email);
      const { headers, parts } = readMail(mail?.raw ?? '');
      for (const name of Object.keys(headers)) assert.ok(HEADERS.has(name), `the header ${name}`);
      const invite = (parts['text/calendar'] ?? '').replaceAll('\r\n ', '');
      for (const line of invite.split(/\r\n|\r|\n/).filter((one) => one !== '')) {
        assert.ok(LINES.has(/^[A-Z-]+/.exec(line)?.[0] ?? ''), `the line ${line}`);
      }
      assert.equal(invite.match(/^ATTENDEE/gm)?.length ?? 0, 1, invite);
      assert.equal(invite.match(/^BEGIN:VEVENT/gm)?.length, 1);
      for (const element of (parts['text/html'] ?? '').match(/<[a-z!/%][^>]*>/gi) ?? []) {
        assert.doesNotMatch(element, /^<(script|!--|%|b>)/i, element);
      }
      assert.deepEqual(
        texts.map(({ to }) => to),
        ['+447400123456'],
      );
    },
  );
  await fc.assert(property, { numRuns: RUNS });
});
