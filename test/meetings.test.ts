import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { DeliveryError, type Sender } from '../src/cases/appointments/messages/message.ts';
import { ok } from './harness/assert.ts';
import { meetingWorker } from './harness/meeting-worker.ts';
import { app, book, links, MOVE, meeting, only, post, worker, zoom, zoomCompany } from './harness/meetings.ts';

// Creating

test('a booking has no link in its answer, and the appointment shows it once the meeting is made', async () => {
  const company = await zoomCompany();
  const { path } = await book(company);
  assert.deepEqual(await links(company, path), [null, null]);
  assert.equal((await meeting(company, path)).state, 'pending');
  await worker.runOnce();
  const { id, join_url } = only();
  assert.deepEqual(await links(company, path), [String(id), join_url]);
  const updated = await ok(company.patch(path, { notes: 'x' }));
  assert.deepEqual([updated.video_id, updated.join_url], [String(id), join_url]);
});

test('the meeting of an appointment shows its state', async () => {
  const company = await zoomCompany();
  const { id, path } = await book(company);
  const before = await meeting(company, path);
  const expected = {
    appointment_id: id,
    customer_case_id: company.caseId,
    video_id: null,
    join_url: null,
    last_error: null,
  };
  assert.deepEqual(before, { ...expected, provider: null, state: 'pending', attempts: 0 });
  await worker.runOnce();
  const [video_id, join_url] = await links(company, path);
  assert.deepEqual(await meeting(company, path), {
    ...expected,
    provider: 'zoom',
    state: 'ready',
    attempts: 1,
    video_id,
    join_url,
  });
});

for (const [who, more] of [
  ['an adviser without an account', { adviser: 'adviser', video_meeting: true }],
  ['a booking without the wish', { adviser: 'adviserWithVideo', video_meeting: false }],
] as const) {
  test(`${who} gets no meeting, and its confirmation does not wait`, async () => {
    const company = await app.company();
    const { path } = await book(company, { ...more, adviser_email: company[more.adviser], email_confirmation: true });
    await worker.runOnce();
    assert.deepEqual(await links(company, path), [null, null]);
    assert.deepEqual(
      { state: (await meeting(company, path)).state, sent: post.sent.length },
      { state: 'none', sent: 1 },
    );
  });
}

test('an appointment that is already over gets no meeting', async () => {
  const company = await zoomCompany();
  const { path } = await book(company, { start_time: '2026-05-01 10:00', end_time: '2026-05-01 11:00' });
  assert.equal(await worker.runOnce(), 0);
  assert.equal((await meeting(company, path)).state, 'none');
});

test('an appointment that is restored when it is over gets no meeting, and nothing has failed', async () => {
  const company = await zoomCompany();
  const { path } = await book(company);
  await ok(company.delete(path));
  app.clock.set('2026-06-10T10:00:00Z');
  await ok(company.post(`${path}/restore`));
  await worker.runOnce();
  assert.deepEqual([(await meeting(company, path)).state, zoom.asked], ['none', []]);
});

// Jitsi

test('a Jitsi link leads to a room on the company’s server that cannot be guessed and that no other appointment has', async () => {
  const company = await app.company();
  const rooms = new Set<string>();
  for (let i = 0; i < 3; i++) {
    const { id, path } = await book(company, { adviser_email: company.adviserWithVideo });
    await worker.runOnce();
    const [room, link] = await links(company, path);
    assert.match(room, /^[0-9a-f]{32}$/);
    assert.equal(link, `https://meet.firm.example/rooms/${room}`);
    assert.ok(!id.replaceAll('-', '').includes(room.slice(0, 8)));
    rooms.add(room);
  }
  assert.equal(rooms.size, 3);
  assert.deepEqual(zoom.asked, []);
});

test('moving an appointment leaves its Jitsi link as it is', async () => {
  const company = await app.company();
  const { path } = await book(company, { adviser_email: company.adviserWithVideo });
  await worker.runOnce();
  const before = await links(company, path);
  await ok(company.patch(path, MOVE));
  await worker.runOnce();
  assert.deepEqual(await links(company, path), before);
});

test('with an app and its secret the link carries a signed token for the room and the time, renewed by a move', async () => {
  const company = await app.company();
  const signing = meetingWorker(app, zoom, { jitsi: { appId: 'firm', appSecret: 'key of the app' } });
  const { path } = await book(company, { adviser_email: company.adviserWithVideo });
  await signing.runOnce();
  const read = async () => {
    const [room, link] = await links(company, path);
    const url = new URL(link);
    assert.equal(`${url.origin}${url.pathname}`, `https://meet.firm.example/rooms/${room}`);
    const [head = '', body = '', signature] = url.searchParams.get('jwt')?.split('.') ?? [];
    assert.equal(signature, createHmac('sha256', 'key of the app').update(`${head}.${body}`).digest('base64url'));
    const parsed = [head, body].map((part) => JSON.parse(Buffer.from(part, 'base64url').toString('utf8')));
    assert.deepEqual(parsed[0], { alg: 'HS256', typ: 'JWT' });
    return { room, claims: parsed[1] };
  };
  const first = await read();
  const at = (iso: string) => Date.parse(iso) / 1000;
  const claims = { aud: 'jitsi', iss: 'firm', sub: 'meet.firm.example', room: first.room };
  assert.deepEqual(first.claims, { ...claims, nbf: at('2026-06-10T08:00:00Z'), exp: at('2026-06-10T11:00:00Z') });
  await ok(company.patch(path, MOVE));
  await signing.runOnce();
  const second = await read();
  assert.deepEqual(second.claims, { ...claims, nbf: at('2026-06-11T12:00:00Z'), exp: at('2026-06-11T14:45:00Z') });
});

// The confirmation and the link

test('a confirmation waits for the link, and is sent as soon as it exists', async () => {
  const company = await zoomCompany();
  const { path } = await book(company, { email_confirmation: true });
  let during: string | undefined;
  zoom.behave = async ({ method }) => {
    if (method === 'POST') during ??= `${post.sent.length} ${(await ok(company.patch(path, {}))).email_confirmation}`;
    return undefined;
  };
  await worker.runOnce();
  assert.equal(during, '0 scheduled');
  assert.deepEqual(
    post.sent.map(({ joinUrl }) => joinUrl),
    [only().join_url],
  );
});

test('a confirmation whose meeting failed is sent without a link after 15 minutes, and later ones do not wait', async () => {
  const company = await zoomCompany();
  const { path } = await book(company, { email_confirmation: true });
  zoom.behave = ({ method, path: at }) =>
    method === 'POST' && at !== '/oauth/token'
      ? { status: 400, body: { code: 300, message: 'Validation failed.' } }
      : undefined;
  await meetingWorker(app, zoom).runOnce();
  assert.equal((await meeting(company, path)).state, 'failed');
  app.clock.advance({ minutes: 14, seconds: 59 });
  await worker.runOnce();
  assert.deepEqual(post.sent, []);
  app.clock.advance({ seconds: 1 });
  await worker.runOnce();
  assert.deepEqual(
    post.sent.map(({ joinUrl }) => joinUrl),
    [null],
  );
  await ok(company.patch(path, { email_confirmation: true }));
  await worker.runOnce();
  assert.equal(post.sent.length, 2);
});

test('a failed meeting that is requested again in time is in the confirmation that waited', async () => {
  const company = await zoomCompany();
  const { path } = await book(company, { email_confirmation: true });
  zoom.behave = ({ path: at }) =>
    at.endsWith('/meetings') ? { status: 400, body: { code: 300, message: 'No.' } } : undefined;
  await worker.runOnce();
  zoom.behave = () => undefined;
  app.clock.advance({ minutes: 5 });
  assert.equal((await ok(company.post(`${path}/meeting`))).state, 'pending');
  await worker.runOnce();
  assert.deepEqual(
    post.sent.map(({ joinUrl }) => joinUrl),
    [only().join_url],
  );
});

test('a confirmation that failed once is also sent as soon as the link exists', async () => {
  const company = await zoomCompany();
  const { path } = await book(company, { email_confirmation: true, video_meeting: false });
  const refusing: Sender = {
    send: () => Promise.reject(new DeliveryError('Not now.', { permanent: false })),
    close() {},
  };
  await meetingWorker(app, zoom, { sender: refusing }).runOnce();
  zoom.behave = ({ path: at }) => (at.endsWith('/meetings') ? { status: 503, body: {} } : undefined);
  await ok(company.post(`${path}/meeting`));
  app.clock.advance({ seconds: 10 });
  await worker.runOnce();
  zoom.behave = () => undefined;
  app.clock.advance({ seconds: 30 });
  await worker.runOnce();
  assert.deepEqual(
    post.sent.map(({ joinUrl }) => joinUrl),
    [only().join_url],
  );
});

test('a confirmation that begins to wait at the moment the meeting is settled is not forgotten', async () => {
  const company = await zoomCompany();
  for (let i = 0; i < 15; i++) await book(company, { email_confirmation: true });
  const workers = Array.from({ length: 3 }, () => meetingWorker(app, zoom, { sender: post }));
  await Promise.all(workers.map((one) => one.runOnce()));
  assert.equal(post.sent.length, 15);
  assert.ok(post.sent.every(({ joinUrl }) => joinUrl));
});
