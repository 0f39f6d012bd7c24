import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import fc from 'fast-check';
import { startApp, type TestCompany } from './harness/app.ts';
import { assertNotFound, assertRefused } from './harness/assert.ts';
import type { Answer } from './harness/http.ts';

type Body = Record<string, unknown>;

const app = await startApp();

beforeEach(() => app.clock.set('2026-06-01T09:00:00Z'));

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const UNKNOWN_ID = '01890a5d-ac96-774b-bcce-b302099a8057';
const TYPES = ['phone', 'email', 'SMS', 'appointment', 'letter', 'video_conference', 'other'];
const FULL = {
  type: 'email',
  notes: 'Sent the draft will',
  when: '2026-05-20 10:15:30',
  sender: 'Alex Adviser',
  recipient: 'John Smith',
};
const UPDATE_METHODS = ['PATCH', 'POST'];

const ofCase = (caseId: string) => `/cases/${caseId}/interactions`;
const all = (company: TestCompany) => ofCase(company.caseId);
const one = (company: TestCompany, id: string) => `${all(company)}/${id}`;

const written = (wall: Temporal.PlainDateTime) => wall.toString({ smallestUnit: 'second' }).replace('T', ' ');

function accepted(answer: Answer) {
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
}

const create = async (company: TestCompany, body: Body) => accepted(await company.post(all(company), body));
const update = async (company: TestCompany, id: string, body: Body) =>
  accepted(await company.patch(one(company, id), body));
const list = async (company: TestCompany, path = all(company)) => accepted(await company.get(path));

async function listed(company: TestCompany, id: string) {
  const found = (await list(company)).filter((interaction: Body) => interaction.id === id);
  assert.equal(found.length, 1);
  return found[0];
}

/** Sends the body to operations 5 and 6, both methods, and sees it refused without a trace. */
async function assertNeverTaken(body: unknown, faults: Record<string, string>, company?: TestCompany): Promise<void> {
  const owner = company ?? (await app.company());
  const { id } = await create(owner, FULL);
  const before = await list(owner);
  assertRefused(await owner.post(all(owner), body), faults);
  for (const method of UPDATE_METHODS) assertRefused(await owner.send(method, one(owner, id), body), faults);
  assert.deepEqual(await list(owner), before);
}

test('a case without interactions has an empty list', async () => {
  const company = await app.company();
  assert.deepEqual(await list(company), []);
});

test('a create answers with exactly the fields of the create shape', async () => {
  const company = await app.company();
  const { id, ...rest } = await create(company, FULL);
  assert.match(id, UUID_V7);
  assert.deepEqual(rest, {
    type: 'email',
    notes: 'Sent the draft will',
    when: '2026-05-20T09:15:30.000000Z',
    sender: 'Alex Adviser',
    recipient: 'John Smith',
    customer_case_id: company.caseId,
  });
});

test('the list shows exactly the fields of the list shape', async () => {
  const company = await app.company();
  const { id } = await create(company, FULL);
  assert.deepEqual(await list(company), [
    {
      id,
      type: 'email',
      notes: 'Sent the draft will',
      when: '2026-05-20 10:15:30',
      sender: 'Alex Adviser',
      recipient: 'John Smith',
      customer_case_id: company.caseId,
      icon: 'envelope',
      formatted_type: 'Email',
    },
  ]);
});

for (const method of UPDATE_METHODS) {
  test(`an update by ${method} answers with exactly the fields of the update shape and is seen in the list`, async () => {
    const company = await app.company();
    const { id } = await create(company, FULL);
    const answer = await company.send(method, one(company, id), {
      type: 'letter',
      notes: 'Posted the will',
      when: '2026-05-21 11:00:00',
      sender: 'Vic Video',
      recipient: 'Ann Smith',
    });
    assert.deepEqual(accepted(answer), {
      id,
      type: 'letter',
      notes: 'Posted the will',
      when: '2026-05-21T10:00:00.000000Z',
      sender: 'Vic Video',
      recipient: 'Ann Smith',
      customer_case_id: company.caseId,
    });
    assert.deepEqual(await list(company), [
      {
        id,
        type: 'letter',
        notes: 'Posted the will',
        when: '2026-05-21 11:00:00',
        sender: 'Vic Video',
        recipient: 'Ann Smith',
        customer_case_id: company.caseId,
        icon: 'file-lines',
        formatted_type: 'Letter',
      },
    ]);
  });
}

test('type alone is enough: notes and recipient are empty, sender is null, when is now', async () => {
  app.clock.set('2026-06-01T09:00:00.123456Z');
  const company = await app.company();
  const { id, ...rest } = await create(company, { type: 'phone' });
  const common = { type: 'phone', notes: '', sender: null, recipient: '', customer_case_id: company.caseId };
  assert.deepEqual(rest, { ...common, when: '2026-06-01T09:00:00.123456Z' });
  assert.deepEqual(await listed(company, id), {
    id,
    ...common,
    when: '2026-06-01 10:00:00',
    icon: 'phone',
    formatted_type: 'Phone',
  });
});

test('null on create is as if the field was not sent', async () => {
  const company = await app.company();
  const created = await create(company, { type: 'phone', notes: null, when: null, sender: null, recipient: null });
  assert.deepEqual(created, {
    id: created.id,
    type: 'phone',
    notes: '',
    when: '2026-06-01T09:00:00.000000Z',
    sender: null,
    recipient: '',
    customer_case_id: company.caseId,
  });
});

for (const field of ['notes', 'when', 'sender', 'recipient']) {
  test(`an update that does not send ${field} leaves it`, async () => {
    const company = await app.company();
    const created = await create(company, { ...FULL, when: '2026-05-20T09:15:30.654321Z' });
    app.clock.advance({ hours: 5 });
    const others = { type: 'phone', notes: 'n', when: '2026-05-30 08:00:00', sender: 's', recipient: 'r' };
    const sent = Object.fromEntries(Object.entries(others).filter(([name]) => name !== field));
    const updated = await update(company, created.id, sent);
    assert.deepEqual(updated, {
      id: created.id,
      ...others,
      when: '2026-05-30T07:00:00.000000Z',
      customer_case_id: company.caseId,
      [field]: created[field],
    });
  });
}

const CLEARED = { notes: '', sender: null, recipient: '', when: '2026-06-01T14:00:00.000000Z' };
for (const [field, empty] of Object.entries(CLEARED)) {
  test(`null on update clears ${field} and nothing else`, async () => {
    const company = await app.company();
    const created = await create(company, FULL);
    app.clock.set('2026-06-01T14:00:00Z');
    const updated = await update(company, created.id, { type: 'email', [field]: null });
    assert.deepEqual(updated, { ...created, [field]: empty });
    const shown = field === 'when' ? '2026-06-01 15:00:00' : empty;
    assert.equal((await listed(company, created.id))[field], shown);
  });
}

for (const field of ['notes', 'sender', 'recipient']) {
  test(`an empty text is a value of ${field}`, async () => {
    const company = await app.company();
    const created = await create(company, { ...FULL, [field]: '' });
    assert.equal(created[field], '');
    const { id } = await create(company, FULL);
    assert.equal((await update(company, id, { type: 'email', [field]: '' }))[field], '');
  });

  test(`${field} takes 255 characters, counted in code points, and not one more`, async () => {
    const company = await app.company();
    const longest = '👩'.repeat(255);
    assert.equal((await create(company, { type: 'other', [field]: longest }))[field], longest);
    const { id } = await create(company, { type: 'other' });
    assert.equal((await update(company, id, { type: 'other', [field]: longest }))[field], longest);
    assert.equal((await listed(company, id))[field], longest);
    await assertNeverTaken({ type: 'other', [field]: `${longest}x` }, { [field]: 'too_long' });
    await assertNeverTaken({ type: 'other', [field]: 'x'.repeat(256) }, { [field]: 'too_long' });
  });

  test(`${field} with a NUL character or half a surrogate pair is refused`, async () => {
    const company = await app.company();
    for (const value of ['a\u0000b', 'a\ud83d', '\udc69b'])
      await assertNeverTaken({ type: 'other', [field]: value }, { [field]: 'invalid_character' }, company);
  });

  test(`${field} comes back exactly as it was sent`, async () => {
    const company = await app.company();
    const text = fc.string({ unit: 'binary', maxLength: 40 }).filter((value) => !value.includes('\0'));
    await fc.assert(
      fc.asyncProperty(text, async (value) => {
        const { id } = await create(company, { type: 'other', [field]: value });
        assert.equal((await listed(company, id))[field], value);
      }),
      { numRuns: 25 },
    );
  });
}

for (const field of ['notes', 'when', 'sender', 'recipient']) {
  test(`${field} that is not a text is refused`, async () => {
    const company = await app.company();
    for (const value of [5, true, ['phone'], { phone: 1 }])
      await assertNeverTaken({ type: 'other', [field]: value }, { [field]: 'type' }, company);
  });
}

test('a number is no text, however many digits it has', async () => {
  const company = await app.company();
  for (const digits of ['7', '123456789012345', '12345678901234567890', '0.12345678901234567890'])
    for (const field of ['notes', 'sender', 'recipient', 'when'])
      await assertNeverTaken(`{"type":"phone","${field}":${digits}}`, { [field]: 'type' }, company);
});

test('no field can hold anything that breaks the service', async () => {
  const company = await app.company();
  const { id } = await create(company, FULL);
  const value = fc.oneof(
    fc.jsonValue(),
    fc.constantFrom('', '\0', '\ud800', '2026-06-01 10:00', '9999-12-31 23:59:59'),
  );
  const names = fc.constantFrom('type', 'notes', 'when', 'sender', 'recipient');
  await fc.assert(
    fc.asyncProperty(fc.dictionary(names, value, { maxKeys: 3 }), async (change) => {
      for (const path of [all(company), one(company, id)]) {
        const answer = await company.post(path, { type: 'other', ...change });
        assert.ok([200, 400].includes(answer.status), answer.text);
      }
    }),
    { numRuns: 100 },
  );
});

test('type is required on create and on update', async () => {
  await assertNeverTaken({ notes: 'x' }, { type: 'required' });
  await assertNeverTaken({}, { type: 'required' });
});

test('a type that is null or no text is refused', async () => {
  const company = await app.company();
  const { id } = await create(company, FULL);
  const before = await list(company);
  for (const type of [null, 5, true, ['phone'], { phone: 1 }])
    for (const answer of [
      await company.post(all(company), { type }),
      await company.patch(one(company, id), { type }),
      await company.post(one(company, id), { type }),
    ]) {
      assert.equal(answer.status, 400, answer.text);
      assert.equal(answer.body.code, 'invalid_request');
      assert.deepEqual([...new Set(answer.body.errors.map((fault: Body) => fault.field))], ['type']);
      assert.equal(answer.body.errors[0].code, type === null ? 'required' : 'type');
    }
  assert.deepEqual(await list(company), before);
});

test('type is one of the seven contact types, case-sensitive', async () => {
  const company = await app.company();
  for (const type of ['sms', 'Sms', 'Phone', 'EMAIL', 'phone ', '', 'fax', 'video conference', 'Video conference'])
    await assertNeverTaken({ type }, { type: 'not_allowed' }, company);
});

const DISPLAY = {
  phone: ['phone', 'Phone'],
  email: ['envelope', 'Email'],
  SMS: ['comment', 'SMS'],
  appointment: ['calendar', 'Appointment'],
  letter: ['file-lines', 'Letter'],
  video_conference: ['video', 'Video conference'],
  other: ['circle-info', 'Other'],
};
for (const [type, [icon, formatted]] of Object.entries(DISPLAY)) {
  test(`${type} is listed with the icon ${icon} and as "${formatted}"`, async () => {
    const company = await app.company();
    const created = await create(company, { type });
    assert.equal(created.type, type);
    const updated = await create(company, { type: type === 'other' ? 'phone' : 'other' });
    assert.equal((await update(company, updated.id, { type })).type, type);
    for (const id of [created.id, updated.id]) {
      const shown = await listed(company, id);
      assert.deepEqual([shown.type, shown.icon, shown.formatted_type], [type, icon, formatted]);
    }
  });
}

test('all faults of a request are named at once', async () => {
  await assertNeverTaken(
    { type: 'fax', notes: 'x'.repeat(256), when: '2026-02-30 10:00:00', recipient: 7, sender: 'a\u0000' },
    { type: 'not_allowed', notes: 'too_long', when: 'format', recipient: 'type', sender: 'invalid_character' },
  );
});

test('a missing type does not hide the faults of other fields', async () => {
  await assertNeverTaken({ when: 'soon', notes: 5 }, { type: 'required', when: 'format', notes: 'type' });
});

test('unknown fields are ignored, those that only answers carry included', async () => {
  const company = await app.company();
  const extra = { id: UNKNOWN_ID, customer_case_id: UNKNOWN_ID, icon: 'star', formatted_type: 'Star', colour: 'red' };
  const created = await create(company, { ...FULL, ...extra });
  assert.notEqual(created.id, UNKNOWN_ID);
  assert.equal(created.customer_case_id, company.caseId);
  assert.deepEqual(await update(company, created.id, { type: 'email', ...extra }), created);
  const shown = await listed(company, created.id);
  assert.deepEqual([shown.icon, shown.formatted_type], ['envelope', 'Email']);
  assert.ok(!('colour' in shown));
});

const WHENS: [zone: string, sent: string, utc: string, wall: string][] = [
  ['Europe/London', '2026-01-15 14:30:00', '2026-01-15T14:30:00', '2026-01-15 14:30:00'],
  ['Europe/London', '2026-07-15 14:30:00', '2026-07-15T13:30:00', '2026-07-15 14:30:00'],
  ['Europe/London', '2026-07-15 14:30', '2026-07-15T13:30:00', '2026-07-15 14:30:00'],
  ['Europe/London', '2026-07-15 00:15:00', '2026-07-14T23:15:00', '2026-07-15 00:15:00'],
  ['Europe/London', '2028-02-29 12:00:00', '2028-02-29T12:00:00', '2028-02-29 12:00:00'],
  ['Europe/London', '2026-07-15T14:30:00Z', '2026-07-15T14:30:00', '2026-07-15 15:30:00'],
  ['Europe/London', '2026-07-15T14:30Z', '2026-07-15T14:30:00', '2026-07-15 15:30:00'],
  ['Europe/London', '2026-07-15T23:30:00Z', '2026-07-15T23:30:00', '2026-07-16 00:30:00'],
  ['Europe/London', '2026-07-15T14:30:00+02:00', '2026-07-15T12:30:00', '2026-07-15 13:30:00'],
  ['Europe/London', '2026-07-15T14:30:00-05:30', '2026-07-15T20:00:00', '2026-07-15 21:00:00'],
  ['Europe/London', '2026-03-28 23:59:59', '2026-03-28T23:59:59', '2026-03-28 23:59:59'],
  ['Europe/London', '2026-03-29 00:59:59', '2026-03-29T00:59:59', '2026-03-29 00:59:59'],
  ['Europe/London', '2026-03-29 01:00:00', '2026-03-29T01:00:00', '2026-03-29 02:00:00'],
  ['Europe/London', '2026-03-29 01:30:00', '2026-03-29T01:30:00', '2026-03-29 02:30:00'],
  ['Europe/London', '2026-03-29 01:30', '2026-03-29T01:30:00', '2026-03-29 02:30:00'],
  ['Europe/London', '2026-03-29 01:59:59', '2026-03-29T01:59:59', '2026-03-29 02:59:59'],
  ['Europe/London', '2026-03-29 02:00:00', '2026-03-29T01:00:00', '2026-03-29 02:00:00'],
  ['Europe/London', '2026-03-29 14:00:00', '2026-03-29T13:00:00', '2026-03-29 14:00:00'],
  ['Europe/London', '2026-03-29T00:59:59Z', '2026-03-29T00:59:59', '2026-03-29 00:59:59'],
  ['Europe/London', '2026-03-29T01:00:00Z', '2026-03-29T01:00:00', '2026-03-29 02:00:00'],
  ['Europe/London', '2026-10-24 23:59:59', '2026-10-24T22:59:59', '2026-10-24 23:59:59'],
  ['Europe/London', '2026-10-25 00:59:59', '2026-10-24T23:59:59', '2026-10-25 00:59:59'],
  ['Europe/London', '2026-10-25 01:00:00', '2026-10-25T00:00:00', '2026-10-25 01:00:00'],
  ['Europe/London', '2026-10-25 01:30:00', '2026-10-25T00:30:00', '2026-10-25 01:30:00'],
  ['Europe/London', '2026-10-25 01:59:59', '2026-10-25T00:59:59', '2026-10-25 01:59:59'],
  ['Europe/London', '2026-10-25 02:00:00', '2026-10-25T02:00:00', '2026-10-25 02:00:00'],
  ['Europe/London', '2026-10-25 14:00:00', '2026-10-25T14:00:00', '2026-10-25 14:00:00'],
  ['Europe/London', '2026-10-25T00:30:00Z', '2026-10-25T00:30:00', '2026-10-25 01:30:00'],
  ['Europe/London', '2026-10-25T01:30:00Z', '2026-10-25T01:30:00', '2026-10-25 01:30:00'],
  ['Europe/London', '2026-10-25T01:30:00+01:00', '2026-10-25T00:30:00', '2026-10-25 01:30:00'],
  ['Europe/London', '2026-10-25T01:30:00+00:00', '2026-10-25T01:30:00', '2026-10-25 01:30:00'],
  ['America/New_York', '2026-01-15 14:30:00', '2026-01-15T19:30:00', '2026-01-15 14:30:00'],
  ['America/New_York', '2026-07-15 21:30', '2026-07-16T01:30:00', '2026-07-15 21:30:00'],
  ['America/New_York', '2026-07-16T04:00:00Z', '2026-07-16T04:00:00', '2026-07-16 00:00:00'],
  ['America/New_York', '2026-03-08 01:59:59', '2026-03-08T06:59:59', '2026-03-08 01:59:59'],
  ['America/New_York', '2026-03-08 02:30:00', '2026-03-08T07:30:00', '2026-03-08 03:30:00'],
  ['America/New_York', '2026-03-08 03:00:00', '2026-03-08T07:00:00', '2026-03-08 03:00:00'],
  ['America/New_York', '2026-03-29 01:30:00', '2026-03-29T05:30:00', '2026-03-29 01:30:00'],
  ['America/New_York', '2026-11-01 01:30:00', '2026-11-01T05:30:00', '2026-11-01 01:30:00'],
  ['America/New_York', '2026-11-01 02:00:00', '2026-11-01T07:00:00', '2026-11-01 02:00:00'],
  ['America/New_York', '2026-11-01T06:30:00Z', '2026-11-01T06:30:00', '2026-11-01 01:30:00'],
  ['Asia/Kolkata', '2026-07-15 14:30:00', '2026-07-15T09:00:00', '2026-07-15 14:30:00'],
  ['Australia/Lord_Howe', '2026-10-04 02:15:00', '2026-10-03T15:45:00', '2026-10-04 02:45:00'],
];
for (const [zone, sent, utc, wall] of WHENS) {
  test(`${sent} in ${zone} is ${utc}Z and is listed as ${wall}`, async () => {
    const company = await app.company({ timeZone: zone });
    const created = await create(company, { type: 'phone', when: sent });
    assert.equal(created.when, `${utc}.000000Z`);
    assert.equal((await listed(company, created.id)).when, wall);
    const { id } = await create(company, { type: 'phone' });
    assert.equal((await update(company, id, { type: 'phone', when: sent })).when, `${utc}.000000Z`);
    assert.equal((await listed(company, id)).when, wall);
  });
}

for (const zone of ['Europe/London', 'America/New_York', 'Pacific/Auckland']) {
  test(`any wall time in ${zone} is the instant that Temporal calls compatible`, async () => {
    const company = await app.company({ timeZone: zone });
    const minute = fc.integer({ min: 0, max: 2 * 365 * 24 * 60 });
    await fc.assert(
      fc.asyncProperty(minute, async (minutes) => {
        const wall = Temporal.PlainDateTime.from('2025-06-01T00:00').add({ minutes });
        const at = wall.toZonedDateTime(zone, { disambiguation: 'compatible' });
        const { id, when } = await create(company, { type: 'phone', when: written(wall) });
        assert.equal(when, at.toInstant().toString({ fractionalSecondDigits: 6 }));
        assert.equal((await listed(company, id)).when, written(at.toPlainDateTime()));
      }),
      { numRuns: 25 },
    );
  });

  test(`the when of the list, sent back in ${zone}, changes nothing`, async () => {
    const company = await app.company({ timeZone: zone });
    for (const when of ['2026-01-15 23:30:00', '2026-07-15 00:30:00', '2026-03-29 02:30:00', '2026-10-25 02:00:00']) {
      const created = await create(company, { type: 'phone', when });
      const shown = await listed(company, created.id);
      assert.equal(shown.when, when);
      assert.equal((await update(company, created.id, { type: 'phone', when: shown.when })).when, created.when);
    }
  });
}

test('the when of a create, sent back, changes nothing, not even in the hour that a clock change repeats', async () => {
  const company = await app.company();
  for (const when of ['2026-10-25T01:30:00.250000Z', '2026-10-25T00:30:00.250000Z']) {
    const created = await create(company, { type: 'phone', when });
    assert.equal(created.when, when);
    assert.deepEqual(await update(company, created.id, { type: 'phone', when: created.when }), created);
  }
});

test('instants keep microseconds, and the list cuts them off rather than round', async () => {
  const company = await app.company();
  for (const [sent, kept] of [
    ['2026-05-20T08:59:59.999999Z', '2026-05-20T08:59:59.999999Z'],
    ['2026-05-20T08:59:59.1Z', '2026-05-20T08:59:59.100000Z'],
    ['2026-05-20T08:59:59.000001Z', '2026-05-20T08:59:59.000001Z'],
    ['1969-12-31T23:59:59.999999Z', '1969-12-31T23:59:59.999999Z'],
  ] as const) {
    const { id, when } = await create(company, { type: 'phone', when: sent });
    assert.equal(when, kept);
    assert.match((await listed(company, id)).when, /:59:59$/);
  }
});

test('when may be in the past and in the future', async () => {
  const company = await app.company();
  for (const [sent, kept] of [
    ['1950-01-01 12:00:00', '1950-01-01T12:00:00.000000Z'],
    ['2090-01-01 12:00:00', '2090-01-01T12:00:00.000000Z'],
  ])
    assert.equal((await create(company, { type: 'phone', when: sent })).when, kept);
});

for (const [why, ...values] of [
  ['that is not a real day', '2026-02-29 10:00:00', '2026-04-31 10:00', '2026-13-01 10:00:00', '2026-00-10 10:00:00'],
  ['that is not a real day in UTC either', '2026-02-29T10:00:00Z', '2026-06-31T10:00:00+01:00'],
  ['that is not a real time', '2026-06-01 24:00:00', '2026-06-01 10:60:00', '2026-06-01 10:00:60', '2026-06-01 25:00'],
  ['with an offset that does not exist', '2026-06-01T10:00:00+25:00', '2026-06-01T10:00:00+01:60'],
  ['without a time', '2026-06-01', '2026-06-01 10', '2026-06-01T10Z'],
  ['with a T but without a zone', '2026-06-01T10:00:00', '2026-06-01T10:00'],
  ['with another order of its parts', '01/06/2026 10:00:00', '01-06-2026 10:00', '06/01/2026'],
  ['with single digits', '2026-6-1 10:00:00', '2026-06-01 9:00:00'],
  ['with something before or after it', ' 2026-06-01 10:00:00', '2026-06-01 10:00:00 ', '2026-06-01 10:00:00\n'],
  ['with a zone name', '2026-06-01T10:00:00+01:00[Europe/London]', '2026-06-01 10:00:00 BST'],
  ['with more than four digits of year', '+002026-06-01T10:00:00Z', '12026-06-01 10:00:00', '-002026-06-01T10:00:00Z'],
  ['with digits of another script', '２０２６-06-01 10:00:00', '٢٠٢٦-٠٦-٠١ ١٠:٠٠:٠٠'],
  ['that is no time at all', '', 'now', '1780304400'],
] as const) {
  test(`a when ${why} is refused`, async () => {
    const company = await app.company();
    for (const when of values) await assertNeverTaken({ type: 'phone', when }, { when: 'format' }, company);
  });
}

test('a when whose answer would need a year of five digits is refused', async () => {
  const company = await app.company({ timeZone: 'America/New_York' });
  for (const when of ['9999-12-31 23:59:59', '9999-12-31T23:59:59-01:00']) {
    const answer = await company.post(all(company), { type: 'phone', when });
    assert.equal(answer.status, 400, answer.text);
    assert.equal(answer.body.errors[0].field, 'when');
  }
  assert.deepEqual(await list(company), []);
});

test('a when of the first years is refused or kept, but never breaks the service', async () => {
  const company = await app.company();
  for (const when of ['0000-01-01 00:00:00', '0000-02-29T00:00:00Z', '0001-01-01 00:00:00', '0099-01-01T00:00:00Z']) {
    const answer = await company.post(all(company), { type: 'phone', when });
    if (answer.status === 200) assert.equal(answer.body.when.slice(0, 10), when.slice(0, 10));
    else assertRefused(answer, { when: answer.body.errors?.[0].code });
    await list(company);
  }
});

test('the list begins with the newest when', async () => {
  const company = await app.company();
  const whens = ['2026-05-02 10:00:00', '2026-05-03 10:00:00', '2025-12-31 23:59:59', '2027-01-01 00:00:00'];
  for (const when of whens) {
    await create(company, { type: 'phone', when });
    app.clock.advance({ seconds: 1 });
  }
  const shown = (await list(company)).map((interaction: Body) => interaction.when);
  assert.deepEqual(shown, ['2027-01-01 00:00:00', '2026-05-03 10:00:00', '2026-05-02 10:00:00', '2025-12-31 23:59:59']);
});

test('the order follows the instant, not the wall time, through the repeated hour', async () => {
  const company = await app.company();
  const first = await create(company, { type: 'phone', when: '2026-10-25T00:45:00Z' });
  app.clock.advance({ seconds: 1 });
  const second = await create(company, { type: 'phone', when: '2026-10-25T01:15:00Z' });
  app.clock.advance({ seconds: 1 });
  const between = await create(company, { type: 'phone', when: '2026-10-25T01:00:00Z' });
  const shown = (await list(company)).map((interaction: Body) => interaction.id);
  assert.deepEqual(shown, [second.id, between.id, first.id]);
});

test('microseconds decide the order within one second', async () => {
  const company = await app.company();
  const ids: string[] = [];
  for (const fraction of ['000002', '000003', '000001']) {
    ids.push((await create(company, { type: 'phone', when: `2026-05-20T08:00:00.${fraction}Z` })).id);
    app.clock.advance({ seconds: 1 });
  }
  const shown = (await list(company)).map((interaction: Body) => interaction.id);
  assert.deepEqual(shown, [ids[1], ids[0], ids[2]]);
});

test('of those with the same when, the newest created comes first, updated or not', async () => {
  const company = await app.company();
  const ids: string[] = [];
  for (let i = 0; i < 4; i++) {
    ids.unshift((await create(company, { type: 'phone', when: '2026-05-20 10:00:00' })).id);
    app.clock.advance({ seconds: 1 });
  }
  const shown = async () => (await list(company)).map((interaction: Body) => interaction.id);
  assert.deepEqual(await shown(), ids);
  await update(company, String(ids[3]), { type: 'letter', notes: 'changed last' });
  assert.deepEqual(await shown(), ids);
});

test('interactions made in one and the same instant are listed newest first', async () => {
  const company = await app.company();
  const made: string[] = [];
  for (let i = 0; i < 12; i++) made.unshift((await create(company, { type: 'phone' })).id);
  assert.deepEqual(
    (await list(company)).map((interaction: Body) => interaction.id),
    made,
  );
});

test('an update of when moves the interaction in the list', async () => {
  const company = await app.company();
  const older = await create(company, { type: 'phone', when: '2026-05-01 10:00:00' });
  const newer = await create(company, { type: 'phone', when: '2026-05-02 10:00:00' });
  await update(company, older.id, { type: 'phone', when: '2026-05-03 10:00:00' });
  const shown = (await list(company)).map((interaction: Body) => interaction.id);
  assert.deepEqual(shown, [older.id, newer.id]);
});

test('any log is listed by when, then by creation, newest first', async () => {
  const moment = fc.record({ day: fc.integer({ min: 1, max: 3 }), hour: fc.integer({ min: 0, max: 2 }) });
  await fc.assert(
    fc.asyncProperty(fc.array(moment, { minLength: 2, maxLength: 8 }), async (moments) => {
      const company = await app.company();
      const made: { id: string; when: string; at: number }[] = [];
      for (const [at, { day, hour }] of moments.entries()) {
        const { id, when } = await create(company, { type: 'other', when: `2026-05-0${day} 0${hour}:00` });
        made.push({ id, when, at });
        app.clock.advance({ milliseconds: 1 });
      }
      made.sort((a, b) => (a.when === b.when ? b.at - a.at : a.when < b.when ? 1 : -1));
      const shown = (await list(company)).map((interaction: Body) => interaction.id);
      assert.deepEqual(
        shown,
        made.map(({ id }) => id),
      );
    }),
    { numRuns: 10 },
  );
});

test('updates at once that change different fields all hold', async () => {
  const company = await app.company();
  const { id } = await create(company, FULL);
  const changes = { notes: 'n2', sender: 's2', recipient: 'r2', when: '2026-05-31 10:00:00' };
  for (let round = 0; round < 5; round++) {
    await update(company, id, FULL);
    const answers = await Promise.all(
      Object.entries(changes).map(([field, value]) =>
        company.patch(one(company, id), { type: 'email', [field]: value }),
      ),
    );
    for (const answer of answers) accepted(answer);
    const { notes, sender, recipient, when } = await listed(company, id);
    assert.deepEqual({ notes, sender, recipient, when }, changes);
  }
});

test('updates at once of one interaction never mix', async () => {
  const company = await app.company();
  const { id } = await create(company, FULL);
  const writers = Array.from({ length: 12 }, (_, index) => String(index));
  const answers = await Promise.all(
    writers.map((mark) =>
      company.patch(one(company, id), { type: 'other', notes: mark, sender: mark, recipient: mark }),
    ),
  );
  answers.forEach((answer, index) => {
    const { notes, sender, recipient } = accepted(answer);
    assert.deepEqual([notes, sender, recipient], Array(3).fill(String(index)));
  });
  const { notes, sender, recipient } = await listed(company, id);
  assert.ok(writers.includes(notes));
  assert.deepEqual([sender, recipient], [notes, notes]);
});

test('creates at once are each written once', async () => {
  const company = await app.company();
  const answers = await Promise.all(TYPES.map((type) => company.post(all(company), { type })));
  const ids = answers.map((answer) => accepted(answer).id);
  assert.deepEqual((await list(company)).map((interaction: Body) => interaction.id).sort(), ids.sort());
  assert.equal(new Set(ids).size, TYPES.length);
});

test('a create that is sent twice is two interactions', async () => {
  const company = await app.company();
  const first = await create(company, FULL);
  const second = await create(company, FULL);
  assert.notEqual(first.id, second.id);
  assert.equal((await list(company)).length, 2);
});

test('a case shows only its own interactions', async () => {
  const company = await app.company();
  const otherCase = await company.openCase();
  const here = await create(company, { type: 'phone' });
  const there = accepted(await company.post(ofCase(otherCase), { type: 'letter' }));
  assert.equal(there.customer_case_id, otherCase);
  assert.deepEqual(
    (await list(company)).map((interaction: Body) => interaction.id),
    [here.id],
  );
  assert.deepEqual(
    (await list(company, ofCase(otherCase))).map((interaction: Body) => interaction.id),
    [there.id],
  );
});

test('an interaction of another case of the company is not found through this one, whatever the body', async () => {
  const company = await app.company();
  const otherCase = await company.openCase();
  const { id } = await create(company, FULL);
  const before = await list(company);
  for (const method of UPDATE_METHODS)
    for (const body of [{ type: 'phone', notes: 'stolen' }, { type: 'fax' }])
      assertNotFound(await company.send(method, `${ofCase(otherCase)}/${id}`, body));
  assert.deepEqual(await list(company), before);
});

test('a case of another company does not exist', async () => {
  const company = await app.company();
  const stranger = await app.company();
  const { id } = await create(company, FULL);
  const before = await list(company);
  assertNotFound(await stranger.get(all(company)));
  for (const body of [{ type: 'phone' }, { type: 'fax' }]) {
    assertNotFound(await stranger.post(all(company), body));
    for (const method of UPDATE_METHODS) {
      assertNotFound(await stranger.send(method, one(company, id), body));
      assertNotFound(await stranger.send(method, one(stranger, id), body));
    }
  }
  assert.deepEqual(await list(company), before);
  assert.deepEqual(await list(stranger), []);
});

for (const caseId of [UNKNOWN_ID, 'not-a-uuid', '1', `${UNKNOWN_ID}0`, '%00', 'null']) {
  test(`the case ${caseId} is not found, whatever the body`, async () => {
    const company = await app.company();
    const { id } = await create(company, FULL);
    assertNotFound(await company.get(ofCase(caseId)));
    for (const body of [{ type: 'phone' }, { type: 'fax' }, '{']) {
      assertNotFound(await company.post(ofCase(caseId), body));
      for (const method of UPDATE_METHODS) assertNotFound(await company.send(method, `${ofCase(caseId)}/${id}`, body));
    }
  });
}

for (const id of [UNKNOWN_ID, 'not-a-uuid', '1', '%00', '%27']) {
  test(`the interaction ${id} is not found, whatever the body`, async () => {
    const company = await app.company();
    for (const method of UPDATE_METHODS)
      for (const body of [{ type: 'phone' }, { type: 'fax' }, '[]'])
        assertNotFound(await company.send(method, one(company, id), body));
    assert.deepEqual(await list(company), []);
  });
}

test('a body that is not one JSON object is refused', async () => {
  const company = await app.company();
  const { id } = await create(company, FULL);
  const before = await list(company);
  for (const body of ['[]', '"phone"', 'null', '7', '', '{"type":', '{"type":"phone"} {}', undefined])
    for (const [method, path] of [
      ['POST', all(company)],
      ['PATCH', one(company, id)],
      ['POST', one(company, id)],
    ] as const) {
      const answer = await company.send(method, path, body);
      assert.equal(answer.status, 400, `${method} ${body}: ${answer.text}`);
      assert.equal(answer.body.code, 'invalid_request');
    }
  assert.deepEqual(await list(company), before);
});

test('every operation asks for Content-Type: application/json, the list too', async () => {
  const company = await app.company();
  const { id } = await create(company, FULL);
  const before = await list(company);
  for (const type of [undefined, 'text/plain', 'application/xml'])
    for (const [method, path, body] of [
      ['GET', all(company), undefined],
      ['POST', all(company), { type: 'phone' }],
      ['PATCH', one(company, id), { type: 'phone' }],
      ['POST', one(company, id), { type: 'phone' }],
    ] as const) {
      const answer = await company.send(method, path, body, { 'content-type': type });
      assert.equal(answer.status, 400, answer.text);
      assert.match(answer.text, /content-type/i);
    }
  assert.deepEqual(await list(company), before);
});

test('a charset beside application/json is allowed', async () => {
  const company = await app.company();
  const headers = { 'content-type': 'application/json; charset=utf-8' };
  const { id } = accepted(await company.post(all(company), { type: 'phone', notes: 'ÄÖÜ' }, headers));
  accepted(await company.patch(one(company, id), { type: 'phone' }, headers));
  assert.equal(accepted(await company.get(all(company), headers))[0].notes, 'ÄÖÜ');
});

test('nobody reads or writes without a token', async () => {
  const company = await app.company();
  const { id } = await create(company, FULL);
  const before = await list(company);
  for (const [method, path, body] of [
    ['GET', all(company), undefined],
    ['POST', all(company), { type: 'phone' }],
    ['PATCH', one(company, id), { type: 'phone' }],
    ['POST', one(company, id), { type: 'phone' }],
    ['POST', ofCase(UNKNOWN_ID), { type: 'fax' }],
  ] as const) {
    const answer = await app.anonymous.send(method, path, body);
    assert.equal(answer.status, 401, answer.text);
    assert.equal(answer.body.code, 'invalid_token');
  }
  assert.deepEqual(await list(company), before);
});

test('reading needs the scope interactions:read, writing interactions:write', async () => {
  const company = await app.company();
  const { id } = await create(company, FULL);
  const before = await list(company);
  const reader = await company.withScopes('interactions:read');
  const writer = await company.withScopes('interactions:write');
  const bystander = await company.withScopes(
    'address_book:read',
    'address_book:write',
    'invoices:read',
    'invoices:write',
  );
  accepted(await reader.get(all(company)));
  for (const answer of [
    await writer.get(all(company)),
    await bystander.get(all(company)),
    await reader.post(all(company), { type: 'phone' }),
    await bystander.post(all(company), { type: 'phone' }),
    await reader.patch(one(company, id), { type: 'phone' }),
    await reader.post(one(company, id), { type: 'phone' }),
    await bystander.patch(one(company, id), { type: 'phone' }),
  ]) {
    assert.equal(answer.status, 403, answer.text);
    assert.equal(answer.body.code, 'insufficient_scope');
  }
  assert.deepEqual(await list(company), before);
  accepted(await writer.post(all(company), { type: 'phone' }));
  accepted(await writer.patch(one(company, id), { type: 'phone' }));
});
