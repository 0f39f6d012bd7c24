import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestCompany } from './harness/app.ts';
import {
  app,
  appointmentsOf,
  assertNotBooked,
  assertNotUpdated,
  assertRefusedEverywhere,
  book,
  booked,
  everything,
  type Fields,
  FLAGS,
  read,
} from './harness/appointments.ts';
import { assertProblem, ok } from './harness/assert.ts';
import { booking } from './harness/bodies.ts';
import type { Answer } from './harness/http.ts';

const SMILE = '😀';

async function setCompany(company: TestCompany, column: string, value: string): Promise<void> {
  await app.sql(`UPDATE companies SET ${column} = $2 WHERE id = $1`, [company.companyId, value]);
  app.clock.advance({ seconds: 3 });
}

const faultyFields = (answer: Answer): string[] =>
  [...new Set<string>(answer.body.errors.map((fault: { field: string }) => fault.field))].sort();

// Fields

test('a booking without its required fields names them all', async () => {
  const company = await app.company();
  const faults = { adviser_email: 'required', start_time: 'required', end_time: 'required' };
  await assertNotBooked(company, {}, faults);
  await assertNotBooked(company, { adviser_email: null, start_time: null, end_time: null }, faults);
  for (const field of Object.keys(faults)) {
    await assertNotBooked(company, booking(company, { [field]: undefined }), { [field]: 'required' });
    await assertNotBooked(company, booking(company, { [field]: null }), { [field]: 'required' });
  }
});

for (const field of ['start_time', 'end_time']) {
  test(`an update cannot clear ${field}`, async () => {
    const company = await app.company();
    await assertNotUpdated(company, await book(company), { [field]: null }, { [field]: 'required' });
  });
}

for (const field of ['start_time', 'end_time', 'email_recipient', 'sms_recipient', 'notes', 'location']) {
  test(`${field} is a string and nothing else`, async () => {
    const company = await app.company();
    const path = await book(company);
    for (const value of [5, true, {}, ['x']]) await assertRefusedEverywhere(company, path, field, value, 'type');
  });
}

test('adviser_email is a string and nothing else', async () => {
  const company = await app.company();
  for (const value of [5, true, {}, ['x']]) {
    await assertNotBooked(company, booking(company, { adviser_email: value }), { adviser_email: 'type' });
  }
});

for (const field of FLAGS) {
  test(`${field} is a JSON boolean and nothing else`, async () => {
    const company = await app.company();
    const path = await book(company);
    for (const value of ['true', 'false', '', 0, 1, {}, [true]]) {
      await assertRefusedEverywhere(company, path, field, value, 'type');
    }
  });
}

test('video_meeting is a JSON boolean and nothing else', async () => {
  const company = await app.company();
  for (const value of ['true', '', 0, 1, {}]) {
    await assertNotBooked(company, booking(company, { video_meeting: value }), { video_meeting: 'type' });
  }
});

for (const field of ['notes', 'location']) {
  test(`${field} holds 10,000 characters, counted in code points, and not one more`, async () => {
    const company = await app.company();
    const longest = SMILE.repeat(10_000);
    const path = await book(company, { [field]: longest });
    assert.equal((await read(company, path))[field], longest);
    assert.equal((await ok(company.patch(path, { [field]: `${longest.slice(2)}x` })))[field], `${longest.slice(2)}x`);
    await assertRefusedEverywhere(company, path, field, `${longest}x`, 'too_long');
  });

  test(`${field} is kept as it was sent, to the last character`, async () => {
    const company = await app.company();
    for (const text of [
      '',
      '  padded  ',
      'two\r\nlines\t',
      `${SMILE} e\u0301 é \u202e`,
      `'; DROP TABLE cases; --`,
      '\\u0000',
    ]) {
      const path = await book(company, { [field]: text });
      assert.equal((await read(company, path))[field], text);
      assert.equal((await ok(company.patch(path, { [field]: `x${text}` })))[field], `x${text}`);
    }
  });
}

for (const field of ['notes', 'location', 'email_recipient', 'sms_recipient', 'start_time']) {
  test(`a NUL character in ${field} is refused`, async () => {
    const company = await app.company();
    const path = await book(company);
    const good: Fields = { ...everything(company), start_time: '2026-06-10 10:00:00' };
    const bad = { [field]: `${good[field]}\u0000` };
    const before = await read(company, path);
    for (const answer of [
      await company.post(appointmentsOf(company), booking(company, bad)),
      await company.patch(path, bad),
      await company.post(path, bad),
    ]) {
      assertProblem(answer, 400, 'invalid_request', bad);
      assert.deepEqual(faultyFields(answer), [field]);
    }
    assert.equal(await booked(company), 1);
    assert.deepEqual(await read(company, path), before);
  });
}

test('all faults of a request are named together', async () => {
  const company = await app.company();
  const wrong = {
    start_time: 'soon',
    end_time: 5,
    email_notification: 'yes',
    email_recipient: 'unknown@client.example',
    sms_recipient: '12',
    notes: {},
    location: SMILE.repeat(10_001),
  };
  const shape = ['start_time', 'end_time', 'email_notification', 'sms_recipient', 'notes', 'location'];
  const created = await company.post(appointmentsOf(company), { ...wrong, adviser_email: 'unknown@firm.example' });
  assertProblem(created, 400, 'invalid_request');
  assert.deepEqual(faultyFields(created), [...shape, 'email_recipient', 'adviser_email'].sort());
  const updated = await company.patch(await book(company), wrong);
  assertProblem(updated, 400, 'invalid_request');
  assert.deepEqual(faultyFields(updated), [...shape, 'email_recipient'].sort());
});

test('one wrong field refuses the whole update', async () => {
  const company = await app.company();
  const path = await book(company, everything(company));
  const good = {
    notes: 'New notes',
    location: 'New place',
    start_time: '2026-06-10 08:00:00',
    sms_notification: false,
  };
  for (const [field, value, code] of [
    ['email_recipient', 'unknown@client.example', 'unknown'],
    ['end_time', '2026-06-10 07:00:00', 'not_after_start'],
    ['email_notification', 'no', 'type'],
  ] as const) {
    await assertNotUpdated(company, path, { ...good, [field]: value }, { [field]: code });
  }
});

// Adviser

test('adviser_email is compared case-insensitively', async () => {
  const company = await app.company();
  for (const adviser_email of [company.adviser.toUpperCase(), `A${company.adviser.slice(1)}`]) {
    const answer = await ok(company.post(appointmentsOf(company), booking(company, { adviser_email })));
    assert.equal(answer.adviser_email.toLowerCase(), company.adviser);
  }
  const sql =
    'SELECT DISTINCT d.email FROM appointments a JOIN advisers d ON d.id = a.adviser_id WHERE a.company_id = $1';
  assert.deepEqual(await app.sql(sql, [company.companyId]), [{ email: company.adviser }]);
});

test('adviser_email designates the adviser', async () => {
  const company = await app.company();
  const answer = await ok(
    company.post(appointmentsOf(company), booking(company, { adviser_email: company.adviserWithVideo })),
  );
  assert.equal(answer.adviser_email, company.adviserWithVideo);
  const sql = 'SELECT d.email FROM appointments a JOIN advisers d ON d.id = a.adviser_id WHERE a.company_id = $1';
  assert.deepEqual(await app.sql(sql, [company.companyId]), [{ email: company.adviserWithVideo }]);
});

test('adviser_email must be that of an adviser of the company', async () => {
  const company = await app.company();
  const other = await app.company();
  for (const adviser_email of [
    'unknown@firm.example',
    other.adviser,
    company.customers[0].email,
    `${company.adviser}x`,
  ]) {
    await assertNotBooked(company, booking(company, { adviser_email }), { adviser_email: 'unknown' });
  }
});

test('adviser_email must be an email', async () => {
  const company = await app.company();
  for (const adviser_email of ['', 'adviser', '@firm.example', '%', `${'a'.repeat(255)}@firm.example`]) {
    const answer = await company.post(appointmentsOf(company), booking(company, { adviser_email }));
    assertProblem(answer, 400, 'invalid_request', adviser_email);
    assert.deepEqual(faultyFields(answer), ['adviser_email']);
  }
  assert.equal(await booked(company), 0);
});

test('an adviser who is no longer active cannot be booked', async () => {
  const company = await app.company();
  const path = await book(company);
  await app.sql('UPDATE advisers SET active = false WHERE company_id = $1 AND email = $2', [
    company.companyId,
    company.adviser,
  ]);
  await assertNotBooked(company, booking(company), { adviser_email: 'unknown' });
  await book(company, { adviser_email: company.adviserWithVideo });
  await ok(company.patch(path, { notes: 'what was booked can still be changed' }));
});

// Recipients

test('email_recipient is any customer of the case, compared case-insensitively', async () => {
  const company = await app.company();
  const path = await book(company);
  for (const { email } of company.customers) {
    for (const email_recipient of [email, email.toUpperCase(), email.replace('client', 'Client')]) {
      const created = await ok(company.post(appointmentsOf(company), booking(company, { email_recipient })));
      assert.equal(created.email_recipient.toLowerCase(), email);
      const updated = await ok(company.patch(path, { email_recipient }));
      assert.equal(updated.email_recipient.toLowerCase(), email);
    }
  }
});

test('a customer whose address is stored in capitals is found in small letters', async () => {
  const company = await app.company();
  await company.addCustomer(company.caseId, { email: 'Mary.JONES@Client.Example' });
  await book(company, { email_recipient: 'mary.jones@client.example' });
});

test('email_recipient must be a customer of this very case', async () => {
  const company = await app.company();
  const path = await book(company);
  const other = await app.company();
  const elsewhere = 'elsewhere@client.example';
  await company.addCustomer(await company.openCase(), { email: elsewhere });
  const related = 'related@client.example';
  const person = { entity_id: 'person', title: 'Ms', first_names: 'Rel', last_name: 'Ated', email: related };
  await ok(company.post(`${company.path}/address-book/entry`, person));
  const strangers = ['unknown@client.example', elsewhere, related, other.customers[0].email, company.adviser];
  for (const stranger of strangers)
    await assertRefusedEverywhere(company, path, 'email_recipient', stranger, 'unknown');
});

test('email_recipient is judged whether or not a flag is set', async () => {
  const company = await app.company();
  const path = await book(company);
  const email_recipient = 'unknown@client.example';
  for (const flag of [undefined, null, false, true]) {
    const body = { email_recipient, email_confirmation: flag, email_notification: flag };
    await assertNotBooked(company, booking(company, body), { email_recipient: 'unknown' });
    await assertNotUpdated(company, path, body, { email_recipient: 'unknown' });
  }
});

test('an empty email_recipient is none, so that the answer of an update can be sent back', async () => {
  const company = await app.company();
  const created = await ok(company.post(appointmentsOf(company), booking(company, { email_recipient: '' })));
  assert.equal(created.email_recipient, null);
  const path = await book(company, everything(company));
  const cleared = await ok(company.patch(path, { email_recipient: '' }));
  assert.equal(cleared.email_recipient, '');
  assert.equal(cleared.email_notification, 'skipped');
  assert.equal((await ok(company.patch(path, { email_recipient: cleared.email_recipient }))).email_recipient, '');
});

test('email_recipient holds 254 characters and not one more', async () => {
  const company = await app.company();
  const longest = `${'a'.repeat(64)}@${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(53)}.example`;
  assert.equal(longest.length, 254);
  await company.addCustomer(company.caseId, { email: longest });
  const path = await book(company, { email_recipient: longest });
  assert.equal((await ok(company.patch(path, { email_recipient: longest }))).email_recipient, longest);
  await assertRefusedEverywhere(company, path, 'email_recipient', `${longest}x`, 'too_long');
});

test('a recipient who has since left the case does not stop a change of something else', async () => {
  const company = await app.company();
  const path = await book(company, { email_recipient: company.customers[0].email });
  await app.sql('UPDATE customers SET email = NULL WHERE company_id = $1', [company.companyId]);
  const answer = await ok(company.patch(path, { notes: 'still' }));
  assert.equal(answer.email_recipient, company.customers[0].email);
});

const POSSIBLE = [
  '07400 123456',
  '07400123456',
  '020 7946 0018',
  '(020) 7946-0018',
  '+447400123456',
  '+44 7400 123456',
  '+49 30 901820',
  '+1 555 555 5555',
];
const IMPOSSIBLE = ['', ' ', '+', '123', '07400', '074001234567890', '+44 1', '+999 123456789', 'call me', '6123 4567'];

test('sms_recipient is any possible number, in national or international form', async () => {
  const company = await app.company();
  const path = await book(company);
  for (const sms_recipient of POSSIBLE) {
    const created = await ok(company.post(appointmentsOf(company), booking(company, { sms_recipient })));
    assert.equal(created.sms_recipient, sms_recipient);
    assert.equal((await ok(company.patch(path, { sms_recipient }))).sms_recipient, sms_recipient);
  }
});

test('sms_recipient that is no possible number is refused', async () => {
  const company = await app.company();
  const path = await book(company);
  const texts = ['my number is 07400 123456', '07400 123456; 07400 654321', 'john@client.example'];
  for (const number of [...IMPOSSIBLE, ...texts]) {
    await assertRefusedEverywhere(company, path, 'sms_recipient', number, 'format');
  }
});

test('sms_recipient is judged whether or not a flag is set', async () => {
  const company = await app.company();
  const path = await book(company);
  for (const flag of [undefined, null, false, true]) {
    const body = { sms_recipient: '123', sms_confirmation: flag, sms_notification: flag };
    await assertNotBooked(company, booking(company, body), { sms_recipient: 'format' });
    await assertNotUpdated(company, path, body, { sms_recipient: 'format' });
  }
});

test('sms_recipient need not be a number of a customer', async () => {
  const company = await app.company();
  await book(company, { sms_recipient: '01632 960001' });
});

test("a national number is read in the company's region, an international one in any", async () => {
  const company = await app.company();
  await setCompany(company, 'phone_region', 'SG');
  const path = await book(company, { sms_recipient: '6123 4567' });
  await ok(company.patch(path, { sms_recipient: '6123 4568' }));
  await ok(company.patch(path, { sms_recipient: '+44 7400 123456' }));
  await assertRefusedEverywhere(company, path, 'sms_recipient', '0113 496', 'format');
});

test('sms_recipient has at most 100 characters', async () => {
  const company = await app.company();
  await assertRefusedEverywhere(
    company,
    await book(company),
    'sms_recipient',
    `07400 123456${' '.repeat(89)}`,
    'too_long',
  );
});
