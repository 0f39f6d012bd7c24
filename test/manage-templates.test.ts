import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startApp, type TestCompany } from './harness/app.ts';
import { assertNotFound, ok, refused } from './harness/assert.ts';

const app = await startApp();
const TEMPLATES = '/manage/message-templates';
const MESSAGES = ['confirmation', 'change', 'reminder', 'cancellation'];
const TEXTS = ['subject', 'email_text', 'sms_text'];
/** The shortest text that names what every client must know. */
const TEXT = '{{start}}{{location}}{{join_url}}';

const patch = (company: TestCompany, message: string, body: object) => company.patch(`${TEMPLATES}/${message}`, body);
const read = (company: TestCompany, message: string) => ok(company.get(`${TEMPLATES}/${message}`));

/** The faults of one text as `field: message`. */
async function faultsOf(company: TestCompany, message: string, body: object): Promise<string[]> {
  const answer = await patch(company, message, body);
  assert.equal(answer.status, 400, answer.text);
  return answer.body.errors.map((fault: { field: string; message: string }) => `${fault.field}: ${fault.message}`);
}

test('every message has default texts, which are in force until there are others', async () => {
  const company = await app.company();
  const templates = await ok(company.get(TEMPLATES));
  assert.deepEqual(
    templates.map(({ message }: { message: string }) => message),
    MESSAGES,
  );
  for (const { defaults, own, updated_at, message, ...texts } of templates) {
    assert.deepEqual([texts, own, updated_at], [defaults, [], null]);
    assert.deepEqual(Object.keys(defaults), TEXTS);
    assert.deepEqual(await read(company, message), { message, ...texts, own, defaults, updated_at });
  }
});

test('the texts that were sent are in force, the others stay the defaults', async () => {
  const [company, other] = [await app.company(), await app.company()];
  const before = await ok(company.get(TEMPLATES));
  const { defaults } = before[2];
  const changed = await ok(patch(company, 'reminder', { subject: 'See you, {{adviser}}' }));
  const expected = { ...before[2], subject: 'See you, {{adviser}}', own: ['subject'] };
  assert.deepEqual(changed, { ...expected, updated_at: '2026-06-01T09:00:00.000000Z' });
  assert.deepEqual(await ok(company.get(TEMPLATES)), before.with(2, changed));
  const more = await ok(patch(company, 'reminder', { sms_text: TEXT }));
  assert.deepEqual([more.subject, more.sms_text, more.own], [changed.subject, TEXT, ['subject', 'sms_text']]);
  const less = await ok(patch(company, 'reminder', { subject: null }));
  assert.deepEqual([less.subject, less.sms_text, less.own], [defaults.subject, TEXT, ['sms_text']]);
  assert.deepEqual(await ok(other.get(TEMPLATES)), before);
});

test('deleting puts the default into force, however often', async () => {
  const company = await app.company();
  const before = await ok(company.get(TEMPLATES));
  await ok(patch(company, 'change', { subject: 'Moved', sms_text: TEXT }));
  await ok(patch(company, 'reminder', { subject: 'Soon' }));
  assert.deepEqual(await ok(company.delete(`${TEMPLATES}/change`)), before[1]);
  assert.deepEqual(await ok(company.delete(`${TEMPLATES}/change`)), before[1]);
  const { subject } = await read(company, 'reminder');
  assert.equal(subject, 'Soon');
});

test('a text that equals the default is the default', async () => {
  const company = await app.company();
  const { defaults } = await read(company, 'reminder');
  const sent = { ...defaults, email_text: defaults.email_text.replaceAll('\n', '\r\n') };
  assert.deepEqual((await ok(patch(company, 'reminder', sent))).own, []);
});

test('a request that changes nothing writes nothing, and without own words there is no time of a change', async () => {
  const company = await app.company();
  const shown = await read(company, 'reminder');
  assert.deepEqual(await ok(patch(company, 'reminder', {})), shown);
  const rows = 'SELECT 1 FROM message_templates WHERE company_id = $1';
  assert.deepEqual(await app.sql(rows, [company.companyId]), []);
  await ok(patch(company, 'reminder', { subject: 'Soon' }));
  assert.equal((await ok(patch(company, 'reminder', { subject: null }))).updated_at, null);
});

test('concurrent changes of different texts are all kept', async () => {
  const company = await app.company();
  const changes = [{ subject: 'Soon' }, { email_text: TEXT }, { sms_text: TEXT }];
  await Promise.all(changes.map((change) => ok(patch(company, 'reminder', change))));
  assert.deepEqual((await read(company, 'reminder')).own, TEXTS);
});

test('every fault of a text is named at its line and column, and nothing is stored', async () => {
  const company = await app.company();
  const body = {
    subject: 'On {{day}}',
    email_text: `Dear {{client\n\n${TEXT}\n{{#location}}\n  {{/join_url}}`,
    sms_text: `${TEXT} {{{adviser}}}`,
  };
  const faults = await faultsOf(company, 'reminder', body);
  assert.match(faults[0] ?? '', /^subject: line 1, column 4: there is no field day; the fields are .*\badviser\b/);
  assert.deepEqual(faults.slice(1), [
    'email_text: line 1, column 6: {{client is not closed: write }} after the field, on the same line',
    'email_text: line 4, column 1: the section {{#location}} is never closed: write {{/location}} where it ends',
    'email_text: line 5, column 3: {{/join_url}} closes a section that is not open',
    `sms_text: line 1, column ${TEXT.length + 2}: a tag has two braces on each side: write {{field}}`,
  ]);
  assert.deepEqual((await read(company, 'reminder')).own, []);
});

test('a text without the start, the place or the link is refused, except that a cancellation needs only the start', async () => {
  const company = await app.company();
  const required = (text: string) => ({ email_text: text, sms_text: text });
  for (const message of ['confirmation', 'change', 'reminder']) {
    const faults = await faultsOf(company, message, required('See you.'));
    assert.equal(faults.length, 8, faults.join('\n'));
    for (const [i, field] of ['date', 'start_time', 'location', 'join_url'].entries()) {
      assert.match(faults[i] ?? '', new RegExp(`^email_text: must .*{{${field}}}`));
    }
    await refused(patch(company, message, { sms_text: `${TEXT.slice(0, 21)}` }), { sms_text: 'required' });
    await ok(patch(company, message, required(TEXT)));
  }
  await refused(patch(company, 'cancellation', { email_text: 'Sorry for {{date}}.' }), { email_text: 'required' });
  await ok(patch(company, 'cancellation', required('Not on {{start}}.')));
});

test('a time without a day is refused, and a day without a time', async () => {
  const company = await app.company();
  for (const [text, tags] of [
    ['{{start_time}}', '{{date}}'],
    ['{{date}}', '{{start_time}}'],
    ['{{start_time}}{{#client}}{{date}}{{/client}}', '{{date}}'],
  ] as const) {
    const [fault, ...others] = await faultsOf(company, 'cancellation', { email_text: text });
    assert.ok(fault?.includes(tags), `${text}: ${fault}`);
    assert.deepEqual(others, []);
  }
  await ok(patch(company, 'cancellation', { sms_text: '{{start_time}} {{short_date}}' }));
});

test('the place counts only if no other condition can hide it', async () => {
  const company = await app.company();
  const text = (place: string) => ({ email_text: `{{start}} {{join_url}} ${place}` });
  await refused(patch(company, 'reminder', text('{{#adviser}}{{location}}{{/adviser}}')), { email_text: 'required' });
  await refused(patch(company, 'reminder', text('{{^location}}{{location}}{{/location}}')), { email_text: 'required' });
  await ok(patch(company, 'reminder', text('{{#location}}Where: {{location}}{{/location}}')));
});

for (const [what, subject, code] of [
  ['a line break, which could begin another header', 'Hello\r\nBcc: all@company.example', 'invalid_character'],
  ['a line separator', 'a\u2028b', 'invalid_character'],
  ['NUL', 'a\0b', 'invalid_character'],
  ['nothing', '', 'too_short'],
  ['only blanks', ' \u200b ', 'too_short'],
  ['too many characters', 'x'.repeat(501), 'too_long'],
  ['the prototype of an object', '{{__proto__}}', 'format'],
  ['a method of every object', '{{#constructor}}x{{/constructor}}', 'format'],
  ['another type', 5, 'type'],
] as const) {
  test(`a subject with ${what} is refused`, async () => {
    const company = await app.company();
    await refused(patch(company, 'reminder', { subject }), { subject: code });
    assert.deepEqual((await read(company, 'reminder')).own, []);
  });
}

for (const [what, text, code] of [
  ['NUL', `${TEXT}\0`, 'invalid_character'],
  ['an escape, which would reach terminals', `${TEXT}\x1b[2J`, 'invalid_character'],
  ['too many characters', TEXT + 'x'.repeat(10_000), 'too_long'],
  ['sections nested too deep', `${TEXT}${'{{#start}}'.repeat(9)}x${'{{/start}}'.repeat(9)}`, 'format'],
] as const) {
  test(`a mail text with ${what} is refused`, async () => {
    const company = await app.company();
    await refused(patch(company, 'reminder', { email_text: text }), { email_text: code });
  });
}

test('an enormous text of nothing but faults is refused with few of them', async () => {
  const company = await app.company();
  const faults = await faultsOf(company, 'reminder', { email_text: '{{x}}'.repeat(2_000) });
  assert.ok(faults.length <= 30 && faults.length >= 20, `${faults.length}`);
});

test('a message that does not exist is 404', async () => {
  const company = await app.company();
  for (const name of ['never', 'Reminder', '__proto__', '%00', 'reminder%20', "'%20OR%20true--"]) {
    for (const answer of [
      await company.get(`${TEMPLATES}/${name}`),
      await patch(company, name, { subject: 'x' }),
      await company.delete(`${TEMPLATES}/${name}`),
      await company.post(`${TEMPLATES}/${name}/preview`),
      await company.post(`${TEMPLATES}/${name}/test`, { email: 'me@company.example' }),
    ]) {
      assertNotFound(answer);
    }
  }
});

test('the event log has every version of the words, and which credential changed them', async () => {
  const company = await app.company();
  await ok(patch(company, 'reminder', { subject: 'One' }));
  await ok(patch(company, 'reminder', { subject: 'Two', sms_text: TEXT }));
  await ok(company.delete(`${TEMPLATES}/reminder`));
  await ok(company.delete(`${TEMPLATES}/reminder`));
  const events = await ok(company.get('/events?types=message_template.*'));
  const shown = events.map(({ type, before, after, actor }: Record<string, Record<string, unknown>>) => [
    type,
    before && [before.message, before.subject, before.sms_text],
    after && [after.message, after.subject, after.sms_text],
    actor?.type,
  ]);
  assert.deepEqual(shown, [
    ['message_template.updated', null, ['reminder', 'One', null], 'key'],
    ['message_template.updated', ['reminder', 'One', null], ['reminder', 'Two', TEXT], 'key'],
    ['message_template.reset', ['reminder', 'Two', TEXT], null, 'key'],
  ]);
});

test('the fields are listed with a description and a sample each', async () => {
  const company = await app.company();
  const fields: { field: string; description: string; sample: string }[] = await ok(
    company.get('/manage/message-template-fields'),
  );
  const names = fields.map(({ field }) => field);
  for (const name of ['start', 'location', 'join_url', 'adviser', 'company']) assert.ok(names.includes(name), name);
  for (const { field, description } of fields) assert.ok(description.length > 5, field);
  // Each can be used.
  await ok(patch(company, 'reminder', { subject: names.map((name) => `{{${name}}}`).join('') }));
});
