import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { character } from './harness/characters.ts';
import {
  accepted,
  all,
  app,
  assertNeverTaken,
  type Body,
  create,
  FULL,
  list,
  listed,
  one,
  UPDATE_METHODS,
  update,
} from './harness/interactions.ts';

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const UNKNOWN_ID = '01890a5d-ac96-774b-bcce-b302099a8057';
const TYPES = ['phone', 'email', 'SMS', 'appointment', 'letter', 'video_conference', 'other'];

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
    const text = fc.string({ unit: character, maxLength: 40 });
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

test('a number is not text, however many digits it has', async () => {
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

test('a type that is null or not text is refused', async () => {
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

test('all faults of a request are named together', async () => {
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

test('concurrent updates of different fields are all kept', async () => {
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

test('concurrent updates of one interaction never mix', async () => {
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

test('concurrent creates are each written once', async () => {
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
