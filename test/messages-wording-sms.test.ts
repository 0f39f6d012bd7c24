import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { OutgoingMessage } from '../src/cases/appointments/messages/message.ts';
import { countSegments, splitSegments } from '../src/cases/appointments/messages/sms-segments.ts';
import { renderSms } from '../src/cases/appointments/messages/templates/render.ts';
import { EARLIER, outgoing } from './harness/outgoing-message.ts';

/** The texts of SMS: what they say, and what is shortened to save segments. */

const sms = (more: Partial<OutgoingMessage> = {}) => renderSms(outgoing({ channel: 'sms', ...more }));

// Segments

for (const [text, count] of [
  ['', 0],
  ['a'.repeat(160), 1],
  ['a'.repeat(161), 2],
  ['a'.repeat(306), 2],
  ['a'.repeat(307), 3],
  ['a'.repeat(459), 3],
  ['a'.repeat(460), 4],
  ['€'.repeat(80), 1],
  ['€'.repeat(81), 2],
  [`${'a'.repeat(158)}€`, 1],
  [`${'a'.repeat(159)}€`, 2],
  // The escape does not fit after 152 septets and moves on together with its character: 152, 153, 2.
  [`${'a'.repeat(152)}€${'a'.repeat(152)}`, 3],
  [`${'a'.repeat(151)}€${'a'.repeat(153)}`, 2],
  ['ł'.repeat(70), 1],
  ['ł'.repeat(71), 2],
  ['ł'.repeat(134), 2],
  ['ł'.repeat(135), 3],
  ['😀'.repeat(35), 1],
  ['😀'.repeat(36), 2],
  // A pair of surrogates does not fit after 66 units and moves on whole: 66, 67, 1.
  [`${'ł'.repeat(66)}😀${'ł'.repeat(66)}`, 3],
  [`${'ł'.repeat(65)}😀${'ł'.repeat(67)}`, 2],
  ['£@èÄ¿\n'.repeat(26), 1],
] as const) {
  test(`${text.length} units such as "${text.slice(0, 3)}" take ${count} segments`, () => {
    assert.equal(countSegments(text), count);
    assert.equal(splitSegments(text).texts.join(''), text);
  });
}

// Place and link

const WHEN = 'Mon 29 Jun, 14:30-15:30 BST';

test('an SMS has the place, also if that makes it two segments', () => {
  const place = 'ulica Świętokrzyska 14, Kraków';
  const text = sms({ company: 'Smith & Partners', location: place });
  assert.equal(text, `Smith & Partners: your appointment is on ${WHEN}, ${place}.`);
  assert.equal(countSegments(text), 2);
  assert.equal(sms({ location: 'Room 1\r\nFloor 2' }), `Smith: your appointment is on ${WHEN}, Room 1, Floor 2.`);
});

test('a company with a long accented name keeps place, end, zone and link', () => {
  const company = 'Kancelaria Radców Prawnych Świętochłowski, Żółkiewski i Wspólnicy';
  const text = sms({ company, location: 'ulica Świętokrzyska 14, Kraków', joinUrl: 'https://m.example/x' });
  assert.equal(text, `${company}: your appointment is on ${WHEN}, ulica Świętokrzyska 14, Kraków. https://m.example/x`);
  assert.equal(countSegments(text), 3);
});

/** The length of a place with which the text has just as many units. */
const placeFor = (units: number, more: Partial<OutgoingMessage>, letter = 'x') =>
  letter.repeat(units - sms({ ...more, location: letter }).length + 1);

test('our words are shortened only if that saves a segment, and then nothing is missing', () => {
  const contact = { email: null, phone: '020 7946 0018', line: null };
  const long = `Smith: your appointment is on ${WHEN}, `;
  const short = `Smith: appointment ${WHEN}, `;
  // With one letter the text is in its long form; the contact is as long in both cases of `placeFor`.
  const fits = placeFor(160, { contact });
  assert.equal(
    sms({ contact, location: fits }),
    `${long}${fits}. To change or cancel this appointment, call 020 7946 0018.`,
  );
  const oneMore = `${fits}x`;
  assert.equal(sms({ contact, location: oneMore }), `${short}${oneMore}. Change or cancel: 020 7946 0018`);
  const shortRoom = 160 - `${short}. Change or cancel: 020 7946 0018`.length;
  const [last, beyond] = ['x'.repeat(shortRoom), 'x'.repeat(shortRoom + 1)];
  assert.equal(countSegments(sms({ contact, location: last })), 1);
  assert.ok(sms({ contact, location: last }).startsWith(short));
  const second = sms({ contact, location: beyond });
  assert.ok(
    second.startsWith(long) && second.includes('To change or cancel'),
    'a second segment has room for all of it',
  );
  assert.equal(countSegments(second), 2);
});

for (const [encoding, letter, single, multiple] of [
  ['GSM-7', 'x', 160, 153],
  ['UCS-2', 'ł', 70, 67],
] as const) {
  test(`${encoding}: end and zone are there up to the end of the third segment, place and link beyond it`, () => {
    const complete = (place: string) => `Smith: appointment ${WHEN}, ${place}.`;
    for (const limit of [single, 2 * multiple, 3 * multiple]) {
      for (const units of [limit - 1, limit, limit + 1]) {
        const place = letter.repeat(units - complete('').length);
        if (place === '') continue;
        const text = sms({ location: place });
        assert.ok(text.includes(place), 'the place is never left out');
        if (units <= 3 * multiple)
          assert.ok(text.includes(WHEN) && countSegments(text) <= countSegments(complete(place)));
        else assert.equal(text, `Smith: appointment Mon 29 Jun, 14:30 BST, ${place}.`, 'only the end is left out');
      }
    }
    const huge = letter.repeat(4 * multiple);
    const link = `https://m.example/${'y'.repeat(100)}`;
    const text = sms({ location: huge, joinUrl: link, contact: { email: null, phone: '020 7946 0018', line: null } });
    assert.equal(text, `Smith: appointment Mon 29 Jun, 14:30, ${huge}. ${link}`);
  });
}

test('a character that counts twice, or a surrogate pair, at the end of a segment costs what it costs', () => {
  for (const letter of ['€', '😀']) {
    const isGsm7 = letter === '€';
    const width = 2;
    for (let count = 1; count < 150; count++) {
      const place = letter.repeat(count);
      const text = sms({ location: place });
      assert.ok(text.includes(place), `${count} × ${letter}`);
      const units = text.length + (isGsm7 ? count * (width - 1) : 0);
      assert.ok(countSegments(text) >= units / (isGsm7 ? 160 : 70));
    }
  }
});

test('a place longer than any provider sends is cut at its end, and the link is whole', () => {
  for (const [letter, limit] of [
    ['x', 1_530],
    ['ł', 670],
    ['😀', 670],
  ] as const) {
    const place = `1 High Street, ${letter.repeat(9_900)}`;
    const link = `https://m.example/room?jwt=${'y'.repeat(300)}`;
    const text = sms({ location: place, joinUrl: link });
    assert.ok(text.includes('1 High Street, ') && text.endsWith(`.... ${link}`), text);
    assert.equal(countSegments(text), 10);
    assert.ok(text.length <= limit && text.length > limit - 10, String(text.length));
    assert.ok(text.isWellFormed());
  }
});

test('whatever the names are, place and link are there, and nothing is left out that fits into three segments', () => {
  const words = fc.string({
    unit: fc.constantFrom('a', 'B', 'ł', 'é', '€', '😀', '-', "'"),
    minLength: 1,
    maxLength: 120,
  });
  const property = fc.property(words, words, fc.boolean(), fc.boolean(), (company, place, hasLink, isReminder) => {
    const link = hasLink ? `https://m.example/${'y'.repeat(60)}` : null;
    const text = sms({ company, location: place, joinUrl: link, kind: isReminder ? 'reminder' : 'confirmation' });
    assert.ok(text.startsWith(`${company}: `) && text.includes(place) && (!link || text.includes(link)));
    assert.ok(text.includes('Mon 29 Jun, 14:30'));
    assert.ok(text.includes(WHEN) || countSegments(text.replace('14:30', '14:30-15:30 BST')) > 3);
  });
  fc.assert(property, { numRuns: 300 });
});

test('typographic signs become plain ones, names stay as they are', () => {
  const text = sms({ location: '“The Oaks” – St Mary’s…' });
  assert.ok(text.includes('"The Oaks" - St Mary\'s...'), text);
  assert.equal(countSegments(text), 1);
  assert.ok(sms({ company: 'Łukasz’ Kanzlei' }).startsWith('Łukasz’ Kanzlei: '));
});

// What they say

test('each SMS says what has happened, with the old and the new time of a change', () => {
  const change = { earlier: EARLIER };
  assert.equal(sms(change), `Smith: your appointment on Fri 26 Jun, 10:00 has been changed. It is now on ${WHEN}.`);
  assert.equal(
    sms({ earlier: { start: outgoing().start, end: outgoing().end, location: 'Room 1' }, location: 'Room 2' }),
    `Smith: your appointment has been changed. It is on ${WHEN}, Room 2.`,
  );
  assert.equal(sms({ kind: 'reminder' }), `Smith: reminder of your appointment on ${WHEN}.`);
  assert.equal(
    sms({ kind: 'reminder', ...change }),
    `Smith: reminder of your appointment, which was on Fri 26 Jun, 10:00 and is now on ${WHEN}.`,
  );
  assert.equal(sms({ kind: 'cancellation' }), `Smith: your appointment on ${WHEN} has been cancelled.`);
  const long = 'Ł'.repeat(80);
  assert.equal(sms({ company: long, kind: 'cancellation' }), `${long}: cancelled: ${WHEN}.`);
});

test('a change of only the end does not name the same start twice', () => {
  const earlier = { ...EARLIER, start: outgoing().start, end: outgoing().end.add({ hours: 1 }) };
  assert.equal(sms({ earlier }), `Smith: your appointment has been changed. It is on ${WHEN}.`);
  assert.equal(sms({ kind: 'reminder', earlier }), `Smith: reminder of your appointment on ${WHEN}.`);
});

test('an appointment during a change of the clocks has both time zones', () => {
  const [start, end] = [Temporal.Instant.from('2026-10-25T00:30:00Z'), Temporal.Instant.from('2026-10-25T01:15:00Z')];
  assert.equal(sms({ start, end }), 'Smith: your appointment is on Sun 25 Oct, 01:30-01:15 BST/GMT.');
});

test('an appointment of a day or longer has the date of its end', () => {
  const end = outgoing().start.add({ hours: 24 });
  assert.equal(sms({ end }), 'Smith: your appointment is on Mon 29 Jun, 14:30-Tue 30 Jun, 14:30 BST.');
});

for (const [what, contact, expected] of [
  ['phone', { phone: '020 7946 0018' }, ' To change or cancel this appointment, call 020 7946 0018.'],
  ['email', { email: 'a@smith.example' }, ' To change or cancel this appointment, write to a@smith.example.'],
  [
    'phone and email',
    { phone: '020 7946 0018', email: 'a@smith.example' },
    ' To change or cancel this appointment, call 020 7946 0018 or write to a@smith.example.',
  ],
  ['a sentence of its own', { phone: '020 7946 0018', line: 'Ring Jane.' }, ' Ring Jane.'],
  ['an empty sentence', { phone: '020 7946 0018', line: '' }, ''],
  ['nothing', {}, ''],
] as const) {
  test(`an SMS says how to change or cancel if the company has set: ${what}`, () => {
    const settings = { email: null, phone: null, line: null, ...contact };
    assert.equal(sms({ contact: settings }), `Smith: your appointment is on ${WHEN}.${expected}`);
    assert.equal(sms({ contact: settings, senderAddress: 'office@smith.example' }), sms({ contact: settings }));
  });
}

test('a cancellation by SMS says whom to ask', () => {
  const contact = { email: null, phone: '020 7946 0018', line: 'To change your appointment, ring Jane.' };
  const text = sms({ kind: 'cancellation', contact });
  assert.equal(
    text,
    `Smith: your appointment on ${WHEN} has been cancelled. If you have questions, call 020 7946 0018.`,
  );
});
