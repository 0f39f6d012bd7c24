import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OutgoingMessage } from '../src/cases/appointments/messages/message.ts';
import { FIELD_NAMES, FIELDS, fieldsOf } from '../src/cases/appointments/messages/templates/fields.ts';
import { htmlOf } from '../src/cases/appointments/messages/templates/html.ts';
import { renderEmail } from '../src/cases/appointments/messages/templates/render.ts';
import { formatPeriod, zoneName } from '../src/cases/appointments/messages/time-texts.ts';
import { EARLIER, outgoing } from './harness/outgoing-message.ts';
import { processorMs } from './harness/processor-time.ts';

/** The texts of mails, as clients read them. */

const NEW = 'Monday 29 June 2026, 14:30–15:30 (British Summer Time)';
const OLD = 'Friday 26 June 2026, 10:00–11:00 (British Summer Time)';
const CONTACT = { email: 'office@smith.example', phone: '020 7946 0018', line: null };
const ASK = 'reply to this email or call 020 7946 0018.';

const mail = (more: Partial<OutgoingMessage> = {}) => renderEmail(outgoing({ contact: CONTACT, ...more }));

test('a confirmation says what, when, with whom, where, and how to change or cancel', () => {
  const { subject, text } = mail({ location: '1 High Street\r\nAnytown', joinUrl: 'https://m.example/x' });
  assert.equal(subject, 'Your appointment on Monday 29 June 2026, 14:30');
  assert.equal(
    text,
    `Dear Mr Smith,

Your appointment has been booked:

When: ${NEW}
With: Alex Adviser, Smith
Where: 1 High Street
Anytown
Join online: https://m.example/x

To change or cancel this appointment, ${ASK}

Kind regards,
Smith
`,
  );
});

test('a change has the new time before the old one, and the places if they differ', () => {
  const earlier = { ...EARLIER, location: 'Room 1' };
  const { subject, text } = mail({ earlier, location: 'Room 2' });
  assert.equal(subject, 'Changed: your appointment on Monday 29 June 2026, 14:30');
  assert.ok(
    text.includes(`Your appointment has been changed:

New time: ${NEW}
Old time: ${OLD}
With: Alex Adviser, Smith
New place: Room 2
Old place: Room 1

To change`),
    text,
  );
  assert.match(mail({ earlier }).text, /With: .*\nOld place: Room 1\n\nTo change/);
  const { start, end } = outgoing();
  const samePlace = mail({ earlier: { ...EARLIER, location: 'Room 2' }, location: 'Room 2' }).text;
  assert.match(samePlace, /Old time: .*\nWith: .*\nWhere: Room 2\n\nTo change/);
  assert.match(
    mail({ earlier: { start, end, location: null }, location: 'Room 2' }).text,
    /\nWhen: .*\nWith: .*\nWhere: Room 2\n/,
  );
  assert.ok(
    mail({ earlier: { ...EARLIER, end: null } }).text.includes('Old time: Friday 26 June 2026, 10:00 (British'),
  );
});

test('a reminder names the old time if the client knows of another', () => {
  const { subject, text } = mail({ kind: 'reminder', earlier: EARLIER });
  assert.equal(subject, 'Reminder: your appointment on Monday 29 June 2026, 14:30');
  assert.ok(text.includes(`This is a reminder of your appointment:\n\nNew time: ${NEW}\nOld time: ${OLD}\n`), text);
  assert.ok(
    mail({ kind: 'reminder' }).text.includes(`This is a reminder of your appointment:\n\nWhen: ${NEW}\nWith: `),
  );
});

test('a cancellation says whom to ask, and has no link', () => {
  const contact = { ...CONTACT, line: 'To change your appointment, ring Jane.' };
  const { subject, text } = mail({ kind: 'cancellation', contact, location: 'Room 1', joinUrl: 'https://m.example/x' });
  assert.equal(subject, 'Cancelled: your appointment on Monday 29 June 2026, 14:30');
  assert.ok(text.includes(`Your appointment has been cancelled:\n\nWhen: ${NEW}\n`));
  assert.ok(text.includes(`Where: Room 1\n\nIf you have questions, ${ASK}\n\nKind regards,`), text);
});

for (const [what, more, expected] of [
  ['email and phone', { contact: CONTACT }, `To change or cancel this appointment, ${ASK}`],
  ['email', { contact: { ...CONTACT, phone: null } }, 'To change or cancel this appointment, reply to this email.'],
  ['phone', { contact: { ...CONTACT, email: null } }, 'To change or cancel this appointment, call 020 7946 0018.'],
  [
    'phone and a sender address, which replies reach',
    { contact: { ...CONTACT, email: null }, senderAddress: 'office@smith.example' },
    `To change or cancel this appointment, ${ASK}`,
  ],
  [
    'only a sender address that nobody reads',
    { contact: { email: null, phone: null, line: null }, senderAddress: 'No-Reply@smith.example' },
    '',
  ],
  ['a sentence of its own', { contact: { ...CONTACT, line: 'Ring Jane.' } }, 'Ring Jane.'],
  ['no sentence', { contact: { ...CONTACT, line: '' } }, ''],
  ['nothing', { contact: { email: null, phone: null, line: null } }, ''],
] as const) {
  test(`a mail says how to change or cancel, if the company has set: ${what}`, () => {
    const middle = expected && `${expected}\n\n`;
    assert.ok(
      mail(more).text.endsWith(`With: Alex Adviser, Smith\n\n${middle}Kind regards,\nSmith\n`),
      mail(more).text,
    );
  });
}

test('the signature is the one of the company, or none', () => {
  assert.ok(
    mail({ signature: 'Best wishes,\r\nSmith\r\nAnytown' }).text.endsWith('\n\nBest wishes,\nSmith\nAnytown\n'),
  );
  assert.ok(mail({ signature: '' }).text.endsWith(`\n\nTo change or cancel this appointment, ${ASK}\n`));
});

for (const [title, first_names, last_name, expected] of [
  ['Mr', 'John', 'Smith', 'Dear Mr Smith,'],
  ['Dr', '', 'Smith', 'Dear Dr Smith,'],
  ['', 'John', 'Smith', 'Dear John Smith,'],
  ['Mr', 'John', '', 'Dear John,'],
  ['', '', 'Smith Ltd', 'Dear Smith Ltd,'],
  ['', ' John\n Paul ', '', 'Dear John Paul,'],
  ['Mr', '', '', 'Hello,'],
  [null, null, null, 'Hello,'],
] as const) {
  test(`"${title}", "${first_names}" and "${last_name}" are greeted with "${expected}"`, () => {
    assert.ok(mail({ customer: { title, first_names, last_name } }).text.startsWith(`${expected}\n\nYour `));
  });
}
test('a recipient who is no customer is greeted without a name', () => {
  assert.ok(mail({ customer: null }).text.startsWith('Hello,\n\nYour '));
});

test('every field has a value in a message that has everything', () => {
  const message = outgoing({ location: 'Room 2', joinUrl: 'https://m.example/x', contact: CONTACT });
  const fields = fieldsOf({ ...message, earlier: { ...EARLIER, location: 'Room 1' } });
  assert.deepEqual(Object.keys(fields).sort(), [...FIELD_NAMES].sort());
  for (const name of FIELD_NAMES) assert.ok(fields[name] && FIELDS[name].sample && FIELDS[name].description, name);
});

// HTML

test('the HTML is made of the text: paragraphs, line breaks, labels and links, with everything escaped', () => {
  const html = htmlOf('Hello,\n\nWhen: now\nWhere: <b>&"\'\nsee https://m.example/a?b=1&c=2.\n\n(https://)', 'A <b>');
  assert.ok(html.includes('<title>A &lt;b&gt;</title>'));
  assert.ok(html.includes('>Hello,</p>'));
  assert.ok(
    html.includes('<strong>When:</strong> now<br>\n<strong>Where:</strong> &lt;b&gt;&amp;&quot;&#39;<br>\nsee '),
  );
  assert.ok(html.includes('<a href="https://m.example/a?b=1&amp;c=2">https://m.example/a?b=1&amp;c=2</a>.</p>'));
  const together = 'At <span style="white-space:nowrap">14:30–15:30</span>, 020&nbsp;7946&nbsp;0018</p>';
  assert.ok(htmlOf('At 14:30–15:30, 020 7946 0018', '').includes(together));
  assert.ok(!htmlOf('javascript:alert(1) data:text/html,x', '').includes('href'));
});

test('the HTML of a long text takes time in proportion to its length', () => {
  for (const piece of ['https://', 'https://!', 'x.', '!', 'A: ', '<', '\n', '.'.repeat(10)]) {
    const ms = processorMs(() => htmlOf(piece.repeat(100_000 / piece.length), ''));
    assert.ok(ms < 2_000, `${piece}: ${ms} ms`);
  }
});

// Times in words

for (const [start, end, zone, expected] of [
  ['2026-06-29T13:30:00Z', '2026-06-29T14:30:00Z', 'Europe/London', NEW],
  [
    '2026-12-01T09:00:00Z',
    '2026-12-01T10:00:00Z',
    'Europe/London',
    'Tuesday 1 December 2026, 09:00–10:00 (Greenwich Mean Time)',
  ],
  [
    '2026-10-25T00:30:00Z',
    '2026-10-25T01:30:00Z',
    'Europe/London',
    'Sunday 25 October 2026, 01:30 (British Summer Time) – 01:30 (Greenwich Mean Time)',
  ],
  [
    '2026-06-29T22:30:00Z',
    '2026-06-29T23:30:00Z',
    'Europe/London',
    'Monday 29 June 2026, 23:30 – Tuesday 30 June 2026, 00:30 (British Summer Time)',
  ],
  ['2026-06-29T13:30:00Z', '2026-06-29T14:30:00Z', 'Asia/Kathmandu', 'Monday 29 June 2026, 19:15–20:15 (Nepal Time)'],
] as const) {
  test(`${start} to ${end} in ${zone}`, () => {
    const period = { start: Temporal.Instant.from(start), end: Temporal.Instant.from(end) };
    assert.equal(formatPeriod(period, zone), expected);
  });
}

for (const [zone, winter, summer] of [
  ['Europe/London', 'GMT', 'BST'],
  ['Europe/Dublin', 'GMT', 'IST'],
  ['Europe/Berlin', 'CET', 'CEST'],
  ['Europe/Athens', 'EET', 'EEST'],
  ['America/New_York', 'EST', 'EDT'],
  ['America/Chicago', 'CST', 'CDT'],
  ['America/Phoenix', 'MST', 'MST'],
  ['America/Anchorage', 'AKST', 'AKDT'],
  ['America/Toronto', 'EST', 'EDT'],
  ['America/Halifax', 'AST', 'ADT'],
  ['America/St_Johns', 'NST', 'NDT'],
  ['Pacific/Honolulu', 'HST', 'HST'],
  ['Australia/Sydney', 'AEDT', 'AEST'],
  ['Australia/Perth', 'AWST', 'AWST'],
  ['Pacific/Auckland', 'NZDT', 'NZST'],
  ['Asia/Kolkata', 'IST', 'IST'],
  ['Asia/Dubai', 'GST', 'GST'],
  ['Asia/Hong_Kong', 'HKT', 'HKT'],
  ['Asia/Singapore', 'SGT', 'SGT'],
  ['Africa/Johannesburg', 'SAST', 'SAST'],
  ['Asia/Kathmandu', 'GMT+5:45', 'GMT+5:45'],
  ['America/Sao_Paulo', 'GMT-3', 'GMT-3'],
  ['UTC', 'UTC', 'UTC'],
] as const) {
  test(`${zone} is ${winter} in January and ${summer} in July`, () => {
    const short = (date: string) => zoneName(Temporal.Instant.from(date), zone, 'short');
    assert.deepEqual([short('2026-01-15T12:00:00Z'), short('2026-07-15T12:00:00Z')], [winter, summer]);
  });
}

test('no two English locales abbreviate a zone differently, so their order does not matter', () => {
  const locales = ['en-GB', 'en-US', 'en-CA', 'en-AU', 'en-NZ', 'en-IE', 'en-IN', 'en-ZA', 'en-HK', 'en-SG'];
  for (const timeZone of Intl.supportedValuesOf('timeZone')) {
    for (const date of [Date.UTC(2026, 0, 15), Date.UTC(2026, 6, 15)]) {
      const names = locales.map((locale) => {
        const parts = new Intl.DateTimeFormat(locale, { timeZone, timeZoneName: 'short' }).formatToParts(date);
        return parts.find(({ type }) => type === 'timeZoneName')?.value ?? '';
      });
      assert.ok(new Set(names.filter((name) => !/^GMT[+-]/.test(name))).size <= 1, `${timeZone}: ${names}`);
    }
  }
});
