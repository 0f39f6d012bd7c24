import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { beforeEach, test } from 'node:test';
import { type Firm, openWorld } from './harness/app.ts';
import type { Answer, Caller } from './harness/http.ts';

const world = await openWorld();

beforeEach(() => world.clock.set('2026-06-01T09:00:00Z'));

const COMMON_KEYS = [
  ...['created_at', 'customer_case_id', 'email_confirmation', 'email_day_before', 'email_notification'],
  ...['email_recipient', 'end_time', 'id', 'location', 'notes', 'sms_confirmation', 'sms_day_before'],
  ...['sms_notification', 'sms_recipient', 'start_time', 'updated_at'],
];
const CREATE_KEYS = [...COMMON_KEYS, 'adviser_email'].sort();
const UPDATE_KEYS = [...COMMON_KEYS, 'attended', 'cancelled', 'deleted_at', 'join_url', 'type', 'video_id'].sort();
const READ_KEYS = [...UPDATE_KEYS, 'adviser_email'].sort();
const NOW = '2026-06-01T09:00:00.000000Z';
const UPDATE_METHODS = ['PATCH', 'POST'];

type Fields = Record<string, unknown>;

const listOf = (firm: Firm) => `${firm.path}/appointments`;

const booking = (firm: Firm, fields: Fields = {}): Fields => ({
  adviser_email: firm.adviser,
  start_time: '2026-06-10 10:00:00',
  end_time: '2026-06-10 11:00:00',
  email_recipient: firm.customers[0].email,
  sms_recipient: '07400 123456',
  ...fields,
});
const onDay = (day: string) => ({ start_time: `${day} 10:00:00`, end_time: `${day} 11:00:00` });
const REMINDERS = { email_notification: true, sms_notification: true };
const EVERY_MESSAGE = { ...REMINDERS, email_confirmation: true, sms_confirmation: true };

// biome-ignore lint/suspicious/noExplicitAny: a test looks into any answer
async function ok(answer: Promise<Answer>): Promise<any> {
  const { status, text, body } = await answer;
  assert.equal(status, 200, text);
  return body;
}

/** Books an appointment and gives its path. */
const book = async (firm: Firm, fields: Fields = {}, list = listOf(firm)): Promise<string> =>
  `${list}/${(await ok(firm.post(list, booking(firm, fields)))).id}`;

/** When `booking` begins. Nobody has attended before. */
const START = '2026-06-10T09:00:00Z';

const outcome = (firm: Caller, path: string, body: unknown) => firm.patch(`${path}/outcome`, body);

/** The words of both channels, which these tests treat alike: confirmation and reminder. */
function words(appointment: Fields): unknown[] {
  const of = (channel: string) => [
    appointment[`${channel}_confirmation`],
    appointment[`${channel}_notification`],
    appointment[`${channel}_day_before`],
  ];
  assert.deepEqual(of('sms'), of('email'));
  return of('email');
}

const messages = (firm: Firm) =>
  world.sql<{ kind: string; state: string; due_at: Date }>(
    `SELECT kind, state, due_at FROM messages WHERE company_id = $1 AND channel = 'email' ORDER BY kind, start_at, id`,
    [firm.companyId],
  );
const scheduled = async (firm: Firm) =>
  (await messages(firm)).filter(({ state }) => state === 'scheduled').map(({ kind, due_at }) => [kind, due_at]);

const sendOut = (firm: Firm, kind: string) =>
  world.sql(`UPDATE messages SET state = 'sent' WHERE company_id = $1 AND kind = $2`, [firm.companyId, kind]);

const stored = (firm: Firm) =>
  Promise.all(
    ['appointments', 'messages'].map((table) =>
      world.sql(`SELECT * FROM ${table} WHERE company_id = $1 ORDER BY id`, [firm.companyId]),
    ),
  );

function assertFaults(answer: Answer, faults: Record<string, string>): void {
  assert.equal(answer.status, 400, answer.text);
  assert.equal(answer.body.code, 'invalid_request', answer.text);
  assert.deepEqual(
    Object.fromEntries(answer.body.errors.map(({ field, code }: Fields) => [field, code])),
    faults,
    answer.text,
  );
}

function assertNotFound(answer: Answer): void {
  assert.equal(answer.status, 404, answer.text);
  assert.equal(answer.body.code, 'not_found', answer.text);
}

async function assertRefused(firm: Firm, request: () => Promise<Answer>, faults: Record<string, string>) {
  const before = await stored(firm);
  assertFaults(await request(), faults);
  assert.deepEqual(await stored(firm), before);
}

// Reading one

test('one appointment reads as an update answers, with the adviser', async () => {
  const firm = await world.firm();
  const path = await book(firm, { ...EVERY_MESSAGE, notes: 'Bring the deeds', location: 'Office' });
  const one = await ok(firm.get(path));
  assert.deepEqual(Object.keys(one).sort(), READ_KEYS);
  const { adviser_email, ...rest } = one;
  assert.equal(adviser_email, firm.adviser);
  assert.deepEqual(words(one), ['scheduled', 'scheduled', 1]);
  assert.deepEqual(rest, await ok(firm.patch(path, {})));
});

test('reading changes nothing', async () => {
  const firm = await world.firm();
  const path = await book(firm, EVERY_MESSAGE);
  const before = await stored(firm);
  await ok(firm.get(path));
  await ok(firm.get(listOf(firm)));
  await ok(firm.get(`/appointments?adviser_email=${firm.adviser}`));
  assert.deepEqual(await stored(firm), before);
});

test('a deleted appointment is not read', async () => {
  const firm = await world.firm();
  const path = await book(firm);
  await ok(firm.delete(path));
  assertNotFound(await firm.get(path));
});

// Lists

/** Three days, the second of them deleted, booked out of order. */
async function threeDays(firm: Firm, fields: Fields = {}, list = listOf(firm)): Promise<void> {
  for (const day of ['2026-06-12', '2026-06-10', '2026-06-11']) {
    const path = await book(firm, { ...fields, ...onDay(day) }, list);
    if (day === '2026-06-11') await ok(firm.delete(path));
  }
}
const days = (list: Fields[]) => list.map(({ start_time }) => Number(String(start_time).slice(8, 10)));

for (const [name, path] of [
  ['of a case', (firm: Firm) => `${listOf(firm)}?`],
  ['of an adviser', (firm: Firm) => `/appointments?adviser_email=${firm.adviser}`],
] as const) {
  test(`appointments ${name} are listed in the order of their starts, without deleted ones, as one reads`, async () => {
    const firm = await world.firm();
    await threeDays(firm, EVERY_MESSAGE);
    const list = await ok(firm.get(path(firm)));
    assert.deepEqual(days(list), [10, 12]);
    for (const one of list) assert.deepEqual(one, await ok(firm.get(`${listOf(firm)}/${one.id}`)));
  });

  for (const [deleted, expected] of Object.entries({
    false: [10, 12],
    0: [10, 12],
    true: [11],
    1: [11],
    all: [10, 11, 12],
  })) {
    test(`appointments ${name} with deleted=${deleted}`, async () => {
      const firm = await world.firm();
      await threeDays(firm);
      const list = await ok(firm.get(`${path(firm)}&deleted=${deleted}`));
      assert.deepEqual(days(list), expected);
      for (const one of list) {
        assert.deepEqual(Object.keys(one).sort(), READ_KEYS);
        assert.equal(one.deleted_at, one.start_time.startsWith('2026-06-11') ? NOW : null);
      }
    });
  }

  for (const [from, to, expected] of [
    ['2026-06-11 10:00:00', undefined, [11, 12]],
    ['2026-06-11 10:00:01', undefined, [12]],
    ['2026-06-11T09:00:00Z', undefined, [11, 12]],
    ['2026-06-11T09:00:00.000001Z', undefined, [12]],
    [undefined, '2026-06-11 10:00', [10]],
    [undefined, '2026-06-11 10:00:01', [10, 11]],
    ['2026-06-10 10:00:00', '2026-06-12T10:00:00+01:00', [10, 11]],
    ['2026-06-12 10:00:00', '2026-06-10 10:00:00', []],
  ] as const) {
    test(`appointments ${name} from ${from} to ${to}: the one is included, the other is not`, async () => {
      const firm = await world.firm();
      await threeDays(firm);
      const range = new URLSearchParams({ deleted: 'all', ...(from && { from }), ...(to && { to }) });
      assert.deepEqual(days(await ok(firm.get(`${path(firm)}&${range}`))), expected);
    });
  }

  test(`appointments ${name}: every faulty parameter is named`, async () => {
    const firm = await world.firm();
    assertFaults(await firm.get(`${path(firm)}&from=soon&to=2026-02-30%2010:00:00&deleted=yes`), {
      from: 'format',
      to: 'format',
      deleted: 'not_allowed',
    });
    assertFaults(await firm.get(`${path(firm)}&from=2026-06-11%2010:00&from=2026-06-12%2010:00`), { from: 'type' });
  });

  test(`appointments ${name} and an unknown adviser: refused, of another company too`, async () => {
    const firm = await world.firm();
    const stranger = await world.firm();
    await book(stranger);
    const base = path(firm).split('?')[0];
    for (const email of ['nobody@firm.example', stranger.adviser]) {
      assertFaults(await firm.get(`${base}?adviser_email=${email}`), { adviser_email: 'unknown' });
    }
    assertFaults(await firm.get(`${base}?adviser_email=a%00b`), { adviser_email: 'invalid_character' });
    assertFaults(await firm.get(`${base}?adviser_email=`), { adviser_email: 'too_short' });
    assertFaults(await firm.get(`${base}?adviser_email=${'x'.repeat(255)}`), { adviser_email: 'too_long' });
  });

  test(`appointments ${name} go with the adviser, whose address is compared without regard to case`, async () => {
    const firm = await world.firm();
    const base = path(firm).split('?')[0];
    await book(firm);
    await book(firm, { adviser_email: firm.adviserWithVideo });
    const advisers = async (email: string) =>
      (await ok(firm.get(`${base}?adviser_email=${email}`))).map((one: Fields) => one.adviser_email);
    assert.deepEqual(await advisers(firm.adviser), [firm.adviser]);
    assert.deepEqual(await advisers(firm.adviserWithVideo.toUpperCase()), [firm.adviserWithVideo]);
    await world.sql(`UPDATE advisers SET email = 'new@firm.example', active = false WHERE email = $1`, [firm.adviser]);
    assert.deepEqual(await advisers('new@firm.example'), [firm.adviser]);
  });
}

test('a case lists its own appointments and no other, and a case without any lists none', async () => {
  const firm = await world.firm();
  const other = `/cases/${await firm.openCase()}/appointments`;
  await book(firm);
  await book(await world.firm());
  assert.equal((await ok(firm.get(listOf(firm)))).length, 1);
  assert.deepEqual(await ok(firm.get(other)), []);
});

test('an unknown case is 404 whatever the query holds', async () => {
  const firm = await world.firm();
  const stranger = await world.firm();
  for (const id of [randomUUID(), 'none', stranger.caseId]) {
    assertNotFound(await firm.get(`/cases/${id}/appointments`));
    assertNotFound(await firm.get(`/cases/${id}/appointments?from=soon&adviser_email=nobody@firm.example`));
  }
});

test('appointments of an adviser come from every case of the company', async () => {
  const firm = await world.firm();
  const other = await firm.openCase();
  await book(firm, onDay('2026-06-11'));
  await book(firm, { ...onDay('2026-06-10'), email_recipient: null }, `/cases/${other}/appointments`);
  const list = await ok(firm.get(`/appointments?adviser_email=${firm.adviser}`));
  assert.deepEqual(
    list.map((one: Fields) => one.customer_case_id),
    [other, firm.caseId],
  );
});

test('the adviser must be named where no case is', async () => {
  const firm = await world.firm();
  assertFaults(await firm.get('/appointments?deleted=yes'), { adviser_email: 'required', deleted: 'not_allowed' });
});

test('appointments of an adviser come in pages, with headers that tell of the others', async () => {
  const firm = await world.firm();
  for (let day = 10; day < 15; day++) await book(firm, onDay(`2026-06-${day}`));
  const page = async (number: number) => {
    const answer = await firm.get(`/appointments?adviser_email=${firm.adviser}&per_page=2&page=${number}`);
    assert.equal(answer.headers['x-total-count'], '5', answer.text);
    return { days: days(answer.body), link: String(answer.headers.link) };
  };
  assert.deepEqual((await page(1)).days, [10, 11]);
  assert.match((await page(1)).link, /[?&]page=2>; rel="next"/);
  assert.deepEqual((await page(3)).days, [14]);
  assert.doesNotMatch((await page(3)).link, /rel="next"/);
  assert.deepEqual((await page(4)).days, []);
  assertFaults(await firm.get(`/appointments?adviser_email=${firm.adviser}&per_page=201&page=0`), {
    per_page: 'out_of_range',
    page: 'format',
  });
});

// Restoring

test('a restored appointment is what it was, and answers with itself', async () => {
  const firm = await world.firm();
  const path = await book(firm, { notes: 'Bring the deeds' });
  const before = await ok(firm.get(path));
  await ok(firm.delete(path));
  const restored = await ok(firm.post(`${path}/restore`));
  assert.deepEqual(restored, before);
  assert.deepEqual(await ok(firm.get(listOf(firm))), [restored]);
  await ok(firm.patch(path, { notes: 'still' }));
});

test('an appointment that is not deleted cannot be restored', async () => {
  const firm = await world.firm();
  const path = await book(firm, EVERY_MESSAGE);
  await assertRefused(firm, () => firm.post(`${path}/restore`), { deleted_at: 'invalid_state' });
});

test('of five that restore at once, one succeeds', async () => {
  const firm = await world.firm();
  const path = await book(firm, EVERY_MESSAGE);
  await ok(firm.delete(path));
  const answers = await Promise.all(Array.from({ length: 5 }, () => firm.post(`${path}/restore`)));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 400, 400, 400, 400]);
  assert.equal((await messages(firm)).length, 2);
});

test('restoring places the reminders that were wanted anew, and sends no confirmation', async () => {
  const firm = await world.firm();
  const path = await book(firm, EVERY_MESSAGE);
  await ok(firm.delete(path));
  assert.deepEqual(await scheduled(firm), []);
  assert.deepEqual(words(await ok(firm.post(`${path}/restore`))), ['cancelled', 'scheduled', 1]);
  assert.deepEqual(await scheduled(firm), [['reminder', new Date('2026-06-09T09:00:00Z')]]);
});

test('restoring places no reminder that was not wanted, or no longer', async () => {
  const firm = await world.firm();
  const path = await book(firm, EVERY_MESSAGE);
  await ok(firm.patch(path, { email_notification: false, sms_notification: null }));
  await ok(firm.delete(path));
  assert.deepEqual(words(await ok(firm.post(`${path}/restore`))), ['cancelled', 'cancelled', 0]);
  const plain = await book(firm);
  await ok(firm.delete(plain));
  assert.deepEqual(words(await ok(firm.post(`${plain}/restore`))), [null, null, 0]);
  assert.deepEqual(await scheduled(firm), []);
});

for (const [now, word, dayBefore, due] of [
  ['2026-06-09T09:00:00Z', 'scheduled', 1, '2026-06-09T09:00:00Z'],
  ['2026-06-09T09:00:01Z', 'scheduled', 0, '2026-06-10T08:00:00Z'],
  ['2026-06-10T08:00:00Z', 'scheduled', 0, '2026-06-10T08:00:00Z'],
  ['2026-06-10T08:00:01Z', 'skipped', 0, undefined],
  ['2026-07-01T09:00:00Z', 'skipped', 0, undefined],
] as const) {
  test(`restored at ${now}, the reminder is ${word}${due ? ` for ${due}` : ''}`, async () => {
    const firm = await world.firm();
    const path = await book(firm, REMINDERS);
    await ok(firm.delete(path));
    world.clock.set(now);
    assert.deepEqual(words(await ok(firm.post(`${path}/restore`))), [null, word, dayBefore]);
    assert.deepEqual(await scheduled(firm), due ? [['reminder', new Date(due)]] : []);
  });
}

test('restoring without a recipient skips the reminder', async () => {
  const firm = await world.firm();
  const path = await book(firm, { ...REMINDERS, email_recipient: null, sms_recipient: null });
  await ok(firm.delete(path));
  assert.deepEqual(words(await ok(firm.post(`${path}/restore`))), [null, 'skipped', 0]);
});

test('what has gone out is not sent again by restoring', async () => {
  const firm = await world.firm();
  const path = await book(firm, EVERY_MESSAGE);
  for (const kind of ['confirmation', 'reminder']) await sendOut(firm, kind);
  await ok(firm.delete(path));
  assert.deepEqual(words(await ok(firm.post(`${path}/restore`))), ['sent', 'sent', 1]);
  assert.deepEqual(await scheduled(firm), []);
});

test('a restored appointment that was cancelled stays cancelled, without messages', async () => {
  const firm = await world.firm();
  const path = await book(firm, EVERY_MESSAGE);
  await ok(outcome(firm, path, { cancelled: true }));
  await ok(firm.delete(path));
  const restored = await ok(firm.post(`${path}/restore`));
  assert.equal(restored.cancelled, 1);
  assert.deepEqual(words(restored), ['cancelled', 'cancelled', 0]);
  assert.deepEqual(await scheduled(firm), []);
});

// Outcome

test('attended, cancelled and type are set, show in every answer, and what is not sent stays', async () => {
  const firm = await world.firm();
  const path = await book(firm);
  world.clock.set(START);
  const facts = ({ attended, cancelled, type }: Fields) => [attended, cancelled, type];
  const steps: [Fields, unknown[]][] = [
    [{ type: 'review' }, [0, 0, 'review']],
    [{ attended: true }, [1, 0, 'review']],
    [{}, [1, 0, 'review']],
    [{ attended: false, cancelled: true }, [0, 1, 'review']],
    [{ cancelled: null, attended: true, type: null }, [1, 0, null]],
    [{ attended: null, type: '😀'.repeat(100) }, [0, 0, '😀'.repeat(100)]],
  ];
  for (const [body, expected] of steps) {
    const answer = await ok(outcome(firm, path, body));
    assert.deepEqual(facts(answer), expected);
    assert.deepEqual(answer, await ok(firm.get(path)));
    assert.deepEqual(facts(await ok(firm.patch(path, {}))), expected);
  }
});

for (const [before, body, field] of [
  [{}, { attended: true, cancelled: true }, 'cancelled'],
  [{ attended: true }, { cancelled: true }, 'cancelled'],
  [{ cancelled: true }, { attended: true }, 'attended'],
] as const) {
  test(`both attended and cancelled is refused: ${JSON.stringify(body)} after ${JSON.stringify(before)}`, async () => {
    const firm = await world.firm();
    const path = await book(firm, EVERY_MESSAGE);
    world.clock.set(START);
    await ok(outcome(firm, path, before));
    await assertRefused(firm, () => outcome(firm, path, body), { [field]: 'invalid_state' });
  });
}

test('nobody has attended before the start, also where the appointment has been moved', async () => {
  const firm = await world.firm();
  const path = await book(firm, EVERY_MESSAGE);
  const attend = () => outcome(firm, path, { attended: true, type: 'review' });
  world.clock.set('2026-06-10T08:59:59.999999Z');
  await assertRefused(firm, attend, { attended: 'invalid_state' });
  await ok(outcome(firm, path, { attended: false, cancelled: null, type: 'x' }));
  world.clock.set(START);
  await ok(attend());
  await ok(firm.patch(path, onDay('2026-06-11')));
  await ok(outcome(firm, path, { type: 'later' }));
  await assertRefused(firm, attend, { attended: 'invalid_state' });
  await assertRefused(firm, () => outcome(firm, path, { attended: true, cancelled: true, type: 5 }), {
    attended: 'invalid_state',
    cancelled: 'invalid_state',
    type: 'type',
  });
});

test('attended and cancelled at once: one of them is refused', async () => {
  const firm = await world.firm();
  world.clock.set(START);
  for (let i = 0; i < 10; i++) {
    const path = await book(firm);
    const answers = await Promise.all([
      outcome(firm, path, { attended: true }),
      outcome(firm, path, { cancelled: true }),
    ]);
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 400]);
    const { attended, cancelled } = await ok(firm.get(path));
    assert.equal(attended + cancelled, 1);
  }
});

test('every faulty field of an outcome is named, and nothing changes', async () => {
  const firm = await world.firm();
  const path = await book(firm, EVERY_MESSAGE);
  world.clock.set(START);
  await assertRefused(firm, () => outcome(firm, path, { attended: 1, cancelled: 'true', type: 'x'.repeat(101) }), {
    attended: 'type',
    cancelled: 'type',
    type: 'too_long',
  });
  await assertRefused(firm, () => outcome(firm, path, { type: 5, attended: true, cancelled: true }), {
    type: 'type',
    cancelled: 'invalid_state',
  });
  await assertRefused(firm, () => outcome(firm, path, { type: 'a\0b' }), { type: 'invalid_character' });
  await assertRefused(firm, () => outcome(firm, path, undefined), { body: 'required' });
});

test('an outcome of a deleted appointment is 404', async () => {
  const firm = await world.firm();
  const path = await book(firm);
  await ok(firm.delete(path));
  assertNotFound(await outcome(firm, path, { attended: true }));
  assertNotFound(await outcome(firm, path, { attended: 'yes' }));
});

test('cancelling withdraws every message that has not gone out', async () => {
  const firm = await world.firm();
  const path = await book(firm, EVERY_MESSAGE);
  assert.deepEqual(words(await ok(outcome(firm, path, { cancelled: true }))), ['cancelled', 'cancelled', 0]);
  assert.deepEqual(await scheduled(firm), []);
});

test('cancelling leaves what has gone out', async () => {
  const firm = await world.firm();
  const path = await book(firm, EVERY_MESSAGE);
  await sendOut(firm, 'confirmation');
  assert.deepEqual(words(await ok(outcome(firm, path, { cancelled: true }))), ['sent', 'cancelled', 0]);
});

test('attended and type touch no message', async () => {
  const firm = await world.firm();
  const path = await book(firm, EVERY_MESSAGE);
  const before = await messages(firm);
  world.clock.set(START);
  await ok(outcome(firm, path, { attended: true, cancelled: false, type: 'review' }));
  assert.deepEqual(await messages(firm), before);
});

test('taking a cancellation back places the reminders that are wanted anew, and sends no confirmation', async () => {
  const firm = await world.firm();
  const path = await book(firm, EVERY_MESSAGE);
  await ok(outcome(firm, path, { cancelled: true }));
  assert.deepEqual(words(await ok(outcome(firm, path, { cancelled: false }))), ['cancelled', 'scheduled', 1]);
  assert.deepEqual(await scheduled(firm), [['reminder', new Date('2026-06-09T09:00:00Z')]]);
});

test('taking a cancellation back too late skips the reminder', async () => {
  const firm = await world.firm();
  const path = await book(firm, REMINDERS);
  await ok(outcome(firm, path, { cancelled: true }));
  world.clock.set('2026-06-10T08:00:01Z');
  assert.deepEqual(words(await ok(outcome(firm, path, { cancelled: false }))), [null, 'skipped', 0]);
});

test('a reminder that has gone out does not go out again after a cancellation that was taken back', async () => {
  const firm = await world.firm();
  const path = await book(firm, REMINDERS);
  await sendOut(firm, 'reminder');
  await ok(outcome(firm, path, { cancelled: true }));
  assert.deepEqual(words(await ok(outcome(firm, path, { cancelled: false }))), [null, 'sent', 1]);
});

test('cancelling a second time changes no message', async () => {
  const firm = await world.firm();
  const path = await book(firm, EVERY_MESSAGE);
  await ok(outcome(firm, path, { cancelled: true }));
  await ok(firm.patch(path, { email_confirmation: true, sms_confirmation: true }));
  const before = await messages(firm);
  await ok(outcome(firm, path, { cancelled: true }));
  assert.deepEqual(await messages(firm), before);
});

// Updates while it is cancelled

for (const method of UPDATE_METHODS) {
  for (const [name, change] of Object.entries({
    'moving it': onDay('2026-06-20'),
    'asking for reminders': REMINDERS,
    'asking for reminders and moving it': { ...REMINDERS, ...onDay('2026-06-20') },
    'naming recipients anew': { email_recipient: null, sms_recipient: null },
    'changing a note': { notes: 'x' },
  })) {
    test(`${method}: while it is cancelled, ${name} leaves reminders withdrawn`, async () => {
      const firm = await world.firm();
      const path = await book(firm, REMINDERS);
      await ok(outcome(firm, path, { cancelled: true }));
      assert.deepEqual(words(await ok(firm.send(method, path, change))), [null, 'cancelled', 0]);
      assert.deepEqual(await scheduled(firm), []);
    });
  }

  test(`${method}: while it is cancelled, a confirmation that is asked for is skipped`, async () => {
    const firm = await world.firm();
    const path = await book(firm);
    await ok(outcome(firm, path, { cancelled: true }));
    const answer = await ok(firm.send(method, path, { email_confirmation: true, sms_confirmation: true }));
    assert.deepEqual(words(answer), ['skipped', null, 0]);
    assert.deepEqual(await scheduled(firm), []);
    assert.deepEqual(words(await ok(outcome(firm, path, { cancelled: false }))), ['skipped', null, 0]);
  });
}

test('what was asked for while it was cancelled holds when the cancellation is taken back', async () => {
  const firm = await world.firm();
  const path = await book(firm);
  await ok(outcome(firm, path, { cancelled: true }));
  assert.deepEqual(words(await ok(firm.patch(path, { ...REMINDERS, ...onDay('2026-06-20') }))), [null, 'cancelled', 0]);
  assert.deepEqual(words(await ok(outcome(firm, path, { cancelled: false }))), [null, 'scheduled', 1]);
  assert.deepEqual(await scheduled(firm), [['reminder', new Date('2026-06-19T09:00:00Z')]]);
});

test('a reminder withdrawn while it was cancelled stays withdrawn when the cancellation is taken back', async () => {
  const firm = await world.firm();
  const path = await book(firm, REMINDERS);
  await ok(outcome(firm, path, { cancelled: true }));
  await ok(firm.patch(path, { email_notification: false, sms_notification: false }));
  assert.deepEqual(words(await ok(outcome(firm, path, { cancelled: false }))), [null, 'cancelled', 0]);
});

test('an update and a cancellation at once never leave a message that will go out', async () => {
  const firm = await world.firm();
  for (let i = 0; i < 10; i++) {
    const path = await book(firm, REMINDERS);
    await Promise.all([
      ok(firm.patch(path, { ...EVERY_MESSAGE, ...onDay('2026-06-20') })),
      ok(outcome(firm, path, { cancelled: true })),
    ]);
    assert.deepEqual(await scheduled(firm), []);
  }
});

// Whose, and who may

type Operation = { name: string; method: string; under: string; scope: string; body?: object; deleted?: boolean };

const OPERATIONS: Operation[] = [
  { name: 'read', method: 'GET', under: '', scope: 'appointments:read' },
  { name: 'restore', method: 'POST', under: '/restore', scope: 'appointments:write', deleted: true },
  { name: 'outcome', method: 'PATCH', under: '/outcome', scope: 'appointments:write', body: { type: 'review' } },
];

for (const { name, method, under, scope, body, deleted } of OPERATIONS) {
  const prepare = async () => {
    const firm = await world.firm();
    const path = await book(firm, EVERY_MESSAGE);
    if (deleted) await ok(firm.delete(path));
    const call = (caller: Caller, at: string, headers = {}) => caller.send(method, `${at}${under}`, body, headers);
    return { firm, path, call };
  };

  test(`${name}: another company and another case do not reach it, and nothing changes`, async () => {
    const { firm, path, call } = await prepare();
    const stranger = await world.firm();
    const id = path.split('/').at(-1);
    const before = await stored(firm);
    assertNotFound(await call(stranger, path));
    assertNotFound(await call(stranger, `${listOf(stranger)}/${id}`));
    assertNotFound(await call(firm, `/cases/${await firm.openCase()}/appointments/${id}`));
    for (const unknown of [randomUUID(), 'none']) {
      assertNotFound(await call(firm, `/cases/${unknown}/appointments/${id}`));
      assertNotFound(await call(firm, `${listOf(firm)}/${unknown}`));
    }
    assert.deepEqual(await stored(firm), before);
  });

  test(`${name} takes the scope ${scope} and no other, and Content-Type only with a body`, async () => {
    const { firm, path, call } = await prepare();
    const others = ['appointments:read', 'appointments:write', 'invoices:read', 'invoices:write', 'manage'];
    const narrow = await firm.withScopes(...others.filter((other) => other !== scope));
    assert.equal((await call(narrow, path)).status, 403);
    assert.equal((await call(world.anonymous, path)).status, 401);
    const allowed = await firm.withScopes(scope);
    const untyped = await call(allowed, path, { 'content-type': undefined });
    if (!body) assert.equal(untyped.status, 200, untyped.text);
    else assertFaults(untyped, { 'Content-Type': 'not_allowed' });
    if (body) await ok(call(allowed, path));
  });
}

test('the lists take the scope appointments:read and no other, and ask for no Content-Type', async () => {
  const firm = await world.firm();
  const narrow = await firm.withScopes('appointments:write', 'invoices:read', 'manage');
  const allowed = await firm.withScopes('appointments:read');
  for (const path of [listOf(firm), `/appointments?adviser_email=${firm.adviser}`]) {
    assert.equal((await narrow.get(path)).status, 403);
    assert.equal((await world.anonymous.get(path)).status, 401);
    await ok(allowed.get(path, { 'content-type': undefined }));
  }
});

test('a body that is too large changes nothing', async () => {
  const firm = await world.firm();
  const path = await book(firm, EVERY_MESSAGE);
  const large = '{"attended":true}'.padEnd(1024 * 1024 + 1);
  await ok(firm.delete(path));
  assert.equal((await firm.post(`${path}/restore`, large)).status, 413);
  assertNotFound(await firm.get(path));
  await ok(firm.post(`${path}/restore`));
  assert.equal((await outcome(firm, path, large)).status, 413);
  assert.equal((await ok(firm.get(path))).attended, 0);
});

test('every change of state is a change of the record', async () => {
  const firm = await world.firm();
  const path = await book(firm);
  world.clock.set(START);
  let expected = 1;
  for (const change of [
    () => outcome(firm, path, { attended: true }),
    () => firm.delete(path),
    () => firm.post(`${path}/restore`),
  ]) {
    world.clock.advance({ minutes: 1 });
    await ok(change());
    expected += 1;
    const [row] = await world.sql('SELECT version, updated_at FROM appointments WHERE company_id = $1', [
      firm.companyId,
    ]);
    assert.deepEqual(row, { version: expected, updated_at: new Date(world.clock.read().epochMilliseconds) });
  }
});

test('the specified operations keep their keys on appointments of every state', async () => {
  const firm = await world.firm();
  const created = await ok(firm.post(listOf(firm), booking(firm)));
  assert.deepEqual(Object.keys(created).sort(), CREATE_KEYS);
  const path = `${listOf(firm)}/${created.id}`;
  await ok(outcome(firm, path, { cancelled: true, type: 'review' }));
  for (const method of UPDATE_METHODS) {
    assert.deepEqual(Object.keys(await ok(firm.send(method, path, {}))).sort(), UPDATE_KEYS);
  }
  assert.deepEqual(Object.keys(await ok(firm.delete(path))).sort(), ['deleted_at', 'id']);
});
