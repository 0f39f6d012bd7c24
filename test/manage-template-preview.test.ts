import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startApp, type TestCompany } from './harness/app.ts';
import { ok, refused } from './harness/assert.ts';
import { booking } from './harness/bodies.ts';

/** What a preview of a message shows. */

const app = await startApp();
const TEMPLATES = '/manage/message-templates';
/** The shortest text that names what every client must know. */
const TEXT = '{{start}}{{location}}{{join_url}}';

const preview = (company: TestCompany, message: string, body: object = {}) =>
  company.post(`${TEMPLATES}/${message}/preview`, body);

async function book(company: TestCompany, fields: Record<string, unknown> = {}) {
  const more = { email_recipient: company.customers[1].email, location: '2 Low Street', ...fields };
  const { id } = await ok(company.post(`${company.path}/appointments`, booking(company, more)));
  return { case_id: company.caseId, appointment_id: id };
}

test('a preview shows the message as a client would get it, with sample values', async () => {
  const company = await app.company();
  const shown = await ok(preview(company, 'reminder'));
  assert.deepEqual([shown.message, shown.own], ['reminder', []]);
  assert.equal(shown.subject, 'Reminder: your appointment on Monday 29 June 2026, 14:30');
  for (const text of [shown.email_text, shown.sms_text]) {
    assert.match(text, /Smith & Partners/);
    assert.match(text, /1 High Street, Anytown/);
    assert.match(text, /https:\/\/meet\.example\/room-1/);
    assert.doesNotMatch(text, /[{}]/);
  }
  assert.match(shown.email_text, /^Dear Mr Smith,\n/);
  assert.match(shown.email_html, /<a href="https:\/\/meet\.example\/room-1">/);
  assert.equal(shown.sms_segments, Math.ceil(shown.sms_text.length / 153));
  assert.equal(shown.sms_encoding, 'gsm7');
  assert.deepEqual(await ok(company.post(`${TEMPLATES}/reminder/preview`)), shown);
});

test('a preview of a change has the old time as well, and one of a cancellation has no link', async () => {
  const company = await app.company();
  const change = await ok(preview(company, 'change'));
  assert.match(change.email_text, /New time: Monday 29 June 2026, 14:30.*\nOld time: Friday 26 June 2026, 14:30/);
  const cancellation = await ok(preview(company, 'cancellation'));
  assert.doesNotMatch(cancellation.email_text, /meet\.example/);
});

test('the texts of the request are shown instead of those in force, and are not stored', async () => {
  const company = await app.company();
  await ok(company.patch(`${TEMPLATES}/reminder`, { subject: 'Stored', sms_text: `Stored ${TEXT}` }));
  const before = await storedTemplates(company);
  const shown = await ok(
    preview(company, 'reminder', { subject: '{{adviser}} & you', email_text: `<b>Hi</b> ${TEXT}` }),
  );
  assert.equal(shown.subject, 'Alex Adviser & you');
  assert.match(shown.email_text, /^<b>Hi<\/b> Monday 29 June 2026/);
  assert.match(shown.email_html, /&lt;b&gt;Hi&lt;\/b&gt; Monday/);
  assert.match(shown.sms_text, /^Stored Monday/);
  assert.deepEqual(shown.own, ['subject', 'email_text', 'sms_text']);
  assert.deepEqual((await ok(preview(company, 'reminder', { subject: null }))).own, ['sms_text']);
  assert.deepEqual(await storedTemplates(company), before);
});

const storedTemplates = (company: TestCompany) =>
  app.sql('SELECT * FROM message_templates WHERE company_id = $1 ORDER BY message', [company.companyId]);

test('the faults of the texts are those that storing them would have', async () => {
  const company = await app.company();
  const body = { subject: '{{nobody}}', email_text: 'Hello', sms_text: TEXT };
  const shown = await preview(company, 'reminder', body);
  const stored = await company.patch(`${TEMPLATES}/reminder`, body);
  assert.deepEqual(shown.body.errors, stored.body.errors);
  assert.equal(shown.status, 400);
});

test('with an appointment, its values and those of its customer are filled in, in the zone of the company', async () => {
  const company = await app.company({ timeZone: 'America/New_York' });
  const key = await book(company);
  const text = '{{greeting}}|{{client}}|{{start}}|{{time_zone}}|{{location}}|{{join_url}}|{{adviser}}';
  const shown = await ok(preview(company, 'reminder', { email_text: text, ...key }));
  assert.equal(
    shown.email_text,
    'Dear Mrs Smith,|Mrs Ann Smith|Wednesday 10 June 2026, 10:00|Eastern Daylight Time|2 Low Street||Alex Adviser\n',
  );
  assert.match(shown.sms_text, /Wed 10 Jun, 10:00.*2 Low Street/);
});

test('an SMS greets the customer with the number, if the appointment has no email', async () => {
  const company = await app.company();
  const key = await book(company, { email_recipient: '', sms_recipient: company.customers[1].phone });
  const shown = await ok(preview(company, 'reminder', { sms_text: `{{client}} ${TEXT}`, ...key }));
  assert.match(shown.sms_text, /^Mrs Ann Smith Wednesday/);
});

test('the settings of the company for clients are filled in', async () => {
  const company = await app.company();
  await ok(
    company.patch('/manage/company', { client_contact_phone: '020 7946 0018', message_signature: 'Yours,\nSmith' }),
  );
  const { email_text } = await ok(preview(company, 'confirmation'));
  assert.match(email_text, /call 020 7946 0018\.\n\nYours,\nSmith\n$/);
});

test('an appointment that is unknown, deleted, of another case or of another company is refused', async () => {
  const [company, other] = [await app.company(), await app.company()];
  const [mine, deleted, theirs] = [await book(company), await book(company), await book(other)];
  await ok(company.delete(`${company.path}/appointments/${deleted.appointment_id}`));
  const further = { ...mine, case_id: await company.openCase() };
  for (const key of [{ ...mine, appointment_id: mine.case_id }, deleted, further, theirs]) {
    await refused(preview(company, 'reminder', key), { appointment_id: 'unknown' });
  }
  await refused(preview(company, 'reminder', { case_id: mine.case_id }), { appointment_id: 'required' });
  await refused(preview(company, 'reminder', { appointment_id: mine.appointment_id }), { case_id: 'required' });
  await refused(preview(company, 'reminder', { case_id: 'x', appointment_id: 5 }), {
    case_id: 'format',
    appointment_id: 'type',
  });
});

test('the values of an appointment need the scope to read it, in a preview and in a test', async () => {
  const company = await app.company();
  const key = await book(company);
  const manager = await company.withScopes('manage');
  const fault = { appointment_id: 'not_allowed' };
  await refused(manager.post(`${TEMPLATES}/reminder/preview`, key), fault);
  await refused(manager.post(`${TEMPLATES}/reminder/test`, { ...key, email: 'me@company.example' }), fault);
  await ok(manager.post(`${TEMPLATES}/reminder/preview`));
  const reader = await company.withScopes('manage', 'appointments:read');
  assert.match((await ok(reader.post(`${TEMPLATES}/reminder/preview`, key))).email_text, /2 Low Street/);
});

// What values can do to a text

test('line breaks of a value end neither the subject nor the line of an SMS', async () => {
  const company = await app.company();
  const key = await book(company, { location: '1 High Street\r\nBcc: all@company.example\n\nAnytown' });
  const shown = await ok(preview(company, 'reminder', { subject: 'At {{location}}', sms_text: TEXT, ...key }));
  assert.equal(shown.subject, 'At 1 High Street Bcc: all@company.example Anytown');
  assert.match(shown.sms_text, /1 High Street, Bcc: all@company\.example, Anytown/);
});

test('a value is never read as a template or as HTML', async () => {
  const company = await app.company();
  const key = await book(company, { location: '{{adviser}} <script>alert(1)</script> {{#client}}' });
  const shown = await ok(preview(company, 'reminder', { email_text: TEXT, ...key }));
  assert.match(shown.email_text, /\{\{adviser}} <script>alert\(1\)<\/script> \{\{#client}}/);
  assert.match(shown.email_html, /\{\{adviser}} &lt;script&gt;/);
  assert.doesNotMatch(shown.email_html, /<script/);
});

test('typographic characters of an SMS are replaced, and others make its segments shorter', async () => {
  const company = await app.company();
  const first = await ok(preview(company, 'reminder', { sms_text: `“We’ll” see you – ${TEXT}…` }));
  assert.match(first.sms_text, /^"We'll" see you - .*\.\.\.$/);
  assert.equal(first.sms_encoding, 'gsm7');
  const second = await ok(preview(company, 'reminder', { sms_text: `Do widzenia, ${TEXT} ł` }));
  assert.deepEqual([second.sms_encoding, second.sms_segments], ['ucs2', Math.ceil(second.sms_text.length / 67)]);
});

test('a text that these values make empty or too long gives way to the default', async () => {
  const company = await app.company();
  const key = await book(company, { location: 'x'.repeat(900) });
  const defaults = await ok(preview(company, 'reminder', key));
  const long = await ok(
    preview(company, 'reminder', {
      ...key,
      subject: '{{location}}',
      email_text: TEXT + '{{location}}'.repeat(190),
      sms_text: `${TEXT}{{location}}`,
    }),
  );
  assert.deepEqual(long.own, []);
  assert.deepEqual([long.subject, long.email_text], [defaults.subject, defaults.email_text]);
  assert.equal(long.sms_text, defaults.sms_text);
  const empty = await ok(preview(company, 'reminder', { ...key, subject: '{{^location}}Online{{/location}}' }));
  assert.deepEqual([empty.own, empty.subject], [[], defaults.subject]);
});

test('every default text is accepted as a text of the company', async () => {
  const company = await app.company();
  for (const { message, defaults } of await ok(company.get(TEMPLATES))) {
    const texts = Object.fromEntries(Object.entries(defaults).map(([name, text]) => [name, `${text} `]));
    const changed = await ok(company.patch(`${TEMPLATES}/${message}`, texts));
    assert.deepEqual(changed.own, ['subject', 'email_text', 'sms_text']);
    const [own, usual] = [
      await ok(preview(company, message)),
      await ok(preview(company, message, { subject: null, email_text: null, sms_text: null })),
    ];
    assert.deepEqual({ ...own, own: [], sms_text: '' }, { ...usual, sms_text: '', sms_segments: own.sms_segments });
  }
});
