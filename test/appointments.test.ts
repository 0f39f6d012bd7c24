import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  app,
  appointmentsOf,
  book,
  booked,
  CHANGES,
  everything,
  FLAGS,
  NOW,
  read,
  UNKNOWN_ID,
  UPDATE_METHODS,
} from './harness/appointments.ts';
import { ok } from './harness/assert.ts';
import { booking } from './harness/bodies.ts';

// Operation 10: the answer

test('a booking answers with exactly the documented fields', async () => {
  const company = await app.company();
  const documented = [
    'adviser_email',
    'created_at',
    'customer_case_id',
    'email_confirmation',
    'email_day_before',
    'email_notification',
    'email_recipient',
    'end_time',
    'id',
    'location',
    'notes',
    'sms_confirmation',
    'sms_day_before',
    'sms_notification',
    'sms_recipient',
    'start_time',
    'updated_at',
  ];
  for (const body of [booking(company), everything(company)]) {
    assert.deepEqual(Object.keys(await ok(company.post(appointmentsOf(company), body))).sort(), documented);
  }
});

test('a booking of the required fields alone leaves every other one empty', async () => {
  const company = await app.company();
  const { id, ...answer } = await ok(company.post(appointmentsOf(company), booking(company)));
  assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.deepEqual(answer, {
    customer_case_id: company.caseId,
    adviser_email: company.adviser,
    start_time: '2026-06-10T09:00:00.000000Z',
    end_time: '2026-06-10 11:00:00',
    email_recipient: null,
    email_confirmation: null,
    email_notification: null,
    email_day_before: 0,
    sms_recipient: null,
    sms_confirmation: null,
    sms_notification: null,
    sms_day_before: 0,
    notes: null,
    location: null,
    created_at: NOW,
    updated_at: NOW,
  });
});

test('a booking answers with everything that was sent', async () => {
  const company = await app.company();
  const { id: _, ...answer } = await ok(company.post(appointmentsOf(company), everything(company)));
  assert.deepEqual(answer, {
    customer_case_id: company.caseId,
    adviser_email: company.adviser,
    start_time: '2026-06-10T09:00:00.000000Z',
    end_time: '2026-06-10 11:00:00',
    email_recipient: company.customers[0].email,
    email_confirmation: 'scheduled',
    email_notification: 'scheduled',
    email_day_before: 1,
    sms_recipient: '07400 123456',
    sms_confirmation: 'scheduled',
    sms_notification: 'scheduled',
    sms_day_before: 1,
    notes: 'Bring the deeds',
    location: '1 High Street, Anytown',
    created_at: NOW,
    updated_at: NOW,
  });
});

test('null for an optional field of a booking is as if it was not sent', async () => {
  const company = await app.company();
  const optional = ['email_recipient', 'sms_recipient', 'notes', 'location', 'video_meeting', ...FLAGS];
  const nulls = Object.fromEntries(optional.map((field) => [field, null]));
  const { id: _, ...withNulls } = await ok(company.post(appointmentsOf(company), booking(company, nulls)));
  const { id: __, ...without } = await ok(company.post(appointmentsOf(company), booking(company)));
  assert.deepEqual(withNulls, without);
});

test('fields that are not documented for a booking are ignored', async () => {
  const company = await app.company();
  const foreign = {
    id: UNKNOWN_ID,
    customer_case_id: UNKNOWN_ID,
    created_at: 5,
    email_day_before: 7,
    nonsense: { deep: [] },
  };
  const hidden = {
    type: 'x',
    attended: 1,
    cancelled: 1,
    deleted_at: NOW,
    video_id: 'v',
    join_url: 'https://x.example',
  };
  const answer = await ok(company.post(appointmentsOf(company), booking(company, { ...foreign, ...hidden })));
  assert.notEqual(answer.id, UNKNOWN_ID);
  assert.equal(answer.customer_case_id, company.caseId);
  assert.equal(answer.created_at, NOW);
  assert.equal(answer.email_day_before, 0);
  const record = await read(company, `${appointmentsOf(company)}/${answer.id}`);
  for (const field of ['type', 'deleted_at', 'video_id', 'join_url']) assert.equal(record[field], null, field);
  assert.deepEqual([record.attended, record.cancelled], [0, 0]);
});

test('overlapping appointments of one adviser are allowed', async () => {
  const company = await app.company();
  const same = await Promise.all([book(company), book(company), book(company)]);
  assert.equal(new Set(same).size, 3);
  await book(company, { start_time: '2026-06-10 10:30:00', end_time: '2026-06-10 11:30:00' });
  assert.equal(await booked(company), 4);
});

test('an appointment that is already over can be recorded', async () => {
  const company = await app.company();
  const past = { start_time: '2020-02-29 10:00:00', end_time: '2020-02-29 11:00:00' };
  const answer = await ok(company.post(appointmentsOf(company), booking(company, past)));
  assert.equal(answer.start_time, '2020-02-29T10:00:00.000000Z');
});

test('video_meeting is no error, whether or not the adviser has connected an account', async () => {
  const company = await app.company();
  for (const adviser_email of [company.adviser, company.adviserWithVideo]) {
    const path = await book(company, { adviser_email, video_meeting: true });
    await read(company, path);
  }
});

test('an adviser without a connected account gets no link', async () => {
  const company = await app.company();
  const record = await read(company, await book(company, { video_meeting: true }));
  assert.equal(record.video_id, null);
  assert.equal(record.join_url, null);
});

test('no link is made unless it was requested', async () => {
  const company = await app.company();
  for (const more of [{}, { video_meeting: false }]) {
    const record = await read(company, await book(company, { adviser_email: company.adviserWithVideo, ...more }));
    assert.equal(record.video_id, null);
    assert.equal(record.join_url, null);
  }
});

// Operation 11: the answer

test('an update answers with exactly the documented fields, by PATCH and by POST', async () => {
  const company = await app.company();
  const documented = [
    'attended',
    'cancelled',
    'created_at',
    'customer_case_id',
    'deleted_at',
    'email_confirmation',
    'email_day_before',
    'email_notification',
    'email_recipient',
    'end_time',
    'id',
    'join_url',
    'location',
    'notes',
    'sms_confirmation',
    'sms_day_before',
    'sms_notification',
    'sms_recipient',
    'start_time',
    'type',
    'updated_at',
    'video_id',
  ];
  for (const body of [booking(company), everything(company)]) {
    const path = await book(company, body);
    for (const method of UPDATE_METHODS) {
      assert.deepEqual(Object.keys(await ok(company.send(method, path, { notes: 'x' }))).sort(), documented);
    }
  }
});

test('an update shows what the booking stored, with "" if there is no email_recipient', async () => {
  const company = await app.company();
  const created = await ok(company.post(appointmentsOf(company), booking(company)));
  const { adviser_email: _, ...shared } = created;
  assert.deepEqual(await read(company, `${appointmentsOf(company)}/${created.id}`), {
    ...shared,
    email_recipient: '',
    type: null,
    attended: 0,
    cancelled: 0,
    deleted_at: null,
    video_id: null,
    join_url: null,
  });
});

test('type, attended and cancelled are shown as they stand in the record', async () => {
  const company = await app.company();
  const path = await book(company);
  const sql = `UPDATE appointments SET type = 'review', attended = 1, cancelled = 1 WHERE company_id = $1`;
  await app.sql(sql, [company.companyId]);
  const { type, attended, cancelled } = await read(company, path);
  assert.deepEqual({ type, attended, cancelled }, { type: 'review', attended: 1, cancelled: 1 });
});

for (const method of UPDATE_METHODS) {
  for (const [field, sent, shown] of CHANGES) {
    test(`a ${method} that sends ${field} alone changes it and nothing else`, async () => {
      const company = await app.company();
      const path = await book(company, everything(company));
      const before = await read(company, path);
      const answer = await ok(company.send(method, path, { [field]: sent(company) }));
      assert.deepEqual(answer, { ...before, [field]: shown(company) });
      assert.deepEqual(await read(company, path), answer);
    });
  }

  test(`a ${method} of {} changes nothing`, async () => {
    const company = await app.company();
    const path = await book(company, everything(company));
    const stored = () => app.sql('SELECT * FROM appointments WHERE company_id = $1', [company.companyId]);
    const before = await stored();
    app.clock.advance({ minutes: 1 });
    await ok(company.send(method, path, {}));
    const [row] = await stored();
    assert.ok(row);
    assert.deepEqual([{ ...row, updated_at: before[0]?.updated_at, version: before[0]?.version }], before);
  });
}

test('one update of every field stores them all', async () => {
  const company = await app.company();
  const path = await book(company);
  const sent = Object.fromEntries(CHANGES.map(([field, value]) => [field, value(company)]));
  const answer = await ok(company.patch(path, sent));
  for (const [field, , shown] of CHANGES) assert.equal(answer[field], shown(company), field);
  assert.deepEqual(await read(company, path), answer);
});

test('null clears notes, location and the recipients', async () => {
  const company = await app.company();
  const empty = { notes: null, location: null, sms_recipient: null, email_recipient: '' };
  for (const [field, shown] of Object.entries(empty)) {
    const path = await book(company, {
      ...everything(company),
      ...Object.fromEntries(FLAGS.map((flag) => [flag, false])),
    });
    const before = await read(company, path);
    assert.deepEqual(await ok(company.patch(path, { [field]: null })), { ...before, [field]: shown });
    assert.deepEqual(await read(company, path), { ...before, [field]: shown });
  }
});

test('a cleared recipient can be given again', async () => {
  const company = await app.company();
  const path = await book(company, everything(company));
  await ok(company.patch(path, { email_recipient: null, sms_recipient: null }));
  const again = { email_recipient: company.customers[0].email, sms_recipient: '07400 123456' };
  const answer = await ok(company.patch(path, again));
  assert.deepEqual({ email_recipient: answer.email_recipient, sms_recipient: answer.sms_recipient }, again);
});

test('an update moves updated_at to now and leaves created_at', async () => {
  const company = await app.company();
  const path = await book(company);
  app.clock.set('2026-06-02T10:11:12.345678Z');
  const answer = await ok(company.patch(path, { notes: 'later' }));
  assert.equal(answer.created_at, NOW);
  assert.equal(answer.updated_at, '2026-06-02T10:11:12.345678Z');
});

test('adviser_email and video_meeting are not fields of an update: whatever they hold is ignored', async () => {
  const company = await app.company();
  const path = await book(company);
  const stored = () =>
    app.sql('SELECT adviser_id, adviser_email, video_meeting FROM appointments WHERE company_id = $1', [
      company.companyId,
    ]);
  const before = await stored();
  for (const adviser_email of [company.adviserWithVideo, 'unknown@firm.example', 5, null]) {
    await ok(company.patch(path, { adviser_email, video_meeting: true }));
    await ok(company.post(path, { adviser_email, video_meeting: 'yes' }));
  }
  assert.deepEqual(await stored(), before);
});

test('fields that are not documented for an update are ignored', async () => {
  const company = await app.company();
  const path = await book(company);
  const before = await read(company, path);
  const foreign = {
    id: UNKNOWN_ID,
    customer_case_id: UNKNOWN_ID,
    type: 'x',
    attended: 1,
    cancelled: 1,
    deleted_at: NOW,
  };
  const more = { video_id: 'v', join_url: 'https://x.example', created_at: NOW, sms_day_before: 1, nonsense: [1] };
  assert.deepEqual(await ok(company.patch(path, { ...foreign, ...more })), before);
});
