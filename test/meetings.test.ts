import assert from 'node:assert/strict';
import { createHmac, randomUUID } from 'node:crypto';
import { beforeEach, test } from 'node:test';
import { connectAccount } from '../src/cases/appointments/meetings/accounts/statements.sql.ts';
import {
  DeliveryError,
  type OutgoingMessage,
  type Receipt,
  type Sender,
} from '../src/cases/appointments/messages/message.ts';
import { WORKER_ORIGIN } from '../src/kernel/audit/audit-log.ts';
import type { Statement } from '../src/kernel/sql/statement.ts';
import { toSql } from '../src/kernel/time/time.ts';
import { type Firm, openWorld } from './harness/app.ts';
import type { Answer } from './harness/http.ts';
import { meetingRooms, meetingSteps, openZoom, secrets } from './harness/meeting-rooms.ts';
import { overlapping } from './harness/overlap.ts';
import { CREDENTIALS } from './harness/zoom.ts';

/** What a meeting goes through with its appointment and its adviser. */

const world = await openWorld({ secrets });
const zoom = await openZoom();

const post: Sender & { sent: OutgoingMessage[] } = {
  sent: [],
  async send(message): Promise<Receipt> {
    post.sent.push(message);
    return { to: message.recipient, providerId: null };
  },
  close() {},
};
const worker = meetingRooms(world, zoom, { sender: post });

beforeEach(async () => {
  world.clock.set('2026-06-01T09:00:00Z');
  await world.sql(`UPDATE messages SET state = 'cancelled' WHERE state IN ('scheduled', 'sending')`);
  await world.sql(`UPDATE meetings SET state = 'none' WHERE state = 'pending'`);
  zoom.reset();
  post.sent.length = 0;
});

async function ok(answer: Promise<Answer>) {
  const { status, body, text } = await answer;
  assert.equal(status, 200, text);
  return body;
}

async function refused(answer: Promise<Answer>, field: string): Promise<void> {
  const { status, body, text } = await answer;
  assert.equal(status, 400, text);
  assert.deepEqual(
    body.errors.map((fault: { field: string; code: string }) => [fault.field, fault.code]),
    [[field, 'invalid_state']],
  );
}

/** A firm whose first adviser has a Zoom account. */
async function zoomFirm(): Promise<Firm & { adviserId: string; account: string }> {
  const firm = await world.firm();
  const [{ id = '' } = {}] = await ok(firm.get(`/manage/advisers?search=${firm.adviser}`));
  const account = `/manage/advisers/${id}/video-account`;
  await ok(firm.send('PUT', account, { provider: 'zoom', ...CREDENTIALS }));
  return { ...firm, adviserId: id, account };
}

/** On 10 June at 10:00 wall time (09:00 UTC), an hour long. */
async function book(firm: Firm, more: Record<string, unknown> = {}) {
  const { id } = await ok(
    firm.post(`${firm.path}/appointments`, {
      adviser_email: firm.adviser,
      start_time: '2026-06-10 10:00:00',
      end_time: '2026-06-10 11:00:00',
      email_recipient: firm.customers[0].email,
      video_meeting: true,
      ...more,
    }),
  );
  return { id: id as string, path: `${firm.path}/appointments/${id}` };
}

const meeting = (firm: Firm, path: string) => ok(firm.get(`${path}/meeting`));
const links = async (firm: Firm, path: string) => {
  const { video_id, join_url } = await ok(firm.get(path));
  return [video_id, join_url];
};
const only = () => {
  assert.equal(zoom.meetings.size, 1);
  return [...zoom.meetings.values()][0] ?? {};
};
const MOVE = { start_time: '2026-06-11 14:00:00', end_time: '2026-06-11 14:45:00' };

// Making

test('a booking has no link in its answer, and the appointment shows it once the meeting is made', async () => {
  const firm = await zoomFirm();
  const { path } = await book(firm);
  assert.deepEqual(await links(firm, path), [null, null]);
  assert.equal((await meeting(firm, path)).state, 'pending');
  await worker.runOnce();
  const { id, join_url } = only();
  assert.deepEqual(await links(firm, path), [String(id), join_url]);
  const updated = await ok(firm.patch(path, { notes: 'x' }));
  assert.deepEqual([updated.video_id, updated.join_url], [String(id), join_url]);
});

test('the meeting of an appointment says where it stands', async () => {
  const firm = await zoomFirm();
  const { id, path } = await book(firm);
  const before = await meeting(firm, path);
  const expected = {
    appointment_id: id,
    customer_case_id: firm.caseId,
    video_id: null,
    join_url: null,
    last_error: null,
  };
  assert.deepEqual(before, { ...expected, provider: null, state: 'pending', attempts: 0 });
  await worker.runOnce();
  const [video_id, join_url] = await links(firm, path);
  assert.deepEqual(await meeting(firm, path), {
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
    const firm = await world.firm();
    const { path } = await book(firm, { ...more, adviser_email: firm[more.adviser], email_confirmation: true });
    await worker.runOnce();
    assert.deepEqual(await links(firm, path), [null, null]);
    assert.deepEqual({ state: (await meeting(firm, path)).state, sent: post.sent.length }, { state: 'none', sent: 1 });
  });
}

test('an appointment that is already over gets no meeting', async () => {
  const firm = await zoomFirm();
  const { path } = await book(firm, { start_time: '2026-05-01 10:00', end_time: '2026-05-01 11:00' });
  assert.equal(await worker.runOnce(), 0);
  assert.equal((await meeting(firm, path)).state, 'none');
});

test('an appointment that is restored when it is over gets no meeting, and nothing has failed', async () => {
  const firm = await zoomFirm();
  const { path } = await book(firm);
  await ok(firm.delete(path));
  world.clock.set('2026-06-10T10:00:00Z');
  await ok(firm.post(`${path}/restore`));
  await worker.runOnce();
  assert.deepEqual([(await meeting(firm, path)).state, zoom.asked], ['none', []]);
});

// Jitsi

test('a Jitsi link leads to a room on the firm’s server that nobody can guess, and that no other appointment has', async () => {
  const firm = await world.firm();
  const rooms = new Set<string>();
  for (let i = 0; i < 3; i++) {
    const { id, path } = await book(firm, { adviser_email: firm.adviserWithVideo });
    await worker.runOnce();
    const [room, link] = await links(firm, path);
    assert.match(room, /^[0-9a-f]{32}$/);
    assert.equal(link, `https://meet.firm.example/rooms/${room}`);
    assert.ok(!id.replaceAll('-', '').includes(room.slice(0, 8)));
    rooms.add(room);
  }
  assert.equal(rooms.size, 3);
  assert.deepEqual(zoom.asked, []);
});

test('moving an appointment leaves its Jitsi link as it is', async () => {
  const firm = await world.firm();
  const { path } = await book(firm, { adviser_email: firm.adviserWithVideo });
  await worker.runOnce();
  const before = await links(firm, path);
  await ok(firm.patch(path, MOVE));
  await worker.runOnce();
  assert.deepEqual(await links(firm, path), before);
});

test('with an app and its secret the link carries a signed token for the room and the time, renewed by a move', async () => {
  const firm = await world.firm();
  const signing = meetingRooms(world, zoom, { jitsi: { appId: 'firm', appSecret: 'key of the app' } });
  const { path } = await book(firm, { adviser_email: firm.adviserWithVideo });
  await signing.runOnce();
  const read = async () => {
    const [room, link] = await links(firm, path);
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
  await ok(firm.patch(path, MOVE));
  await signing.runOnce();
  const second = await read();
  assert.deepEqual(second.claims, { ...claims, nbf: at('2026-06-11T12:00:00Z'), exp: at('2026-06-11T14:45:00Z') });
});

// The confirmation and the link

test('a confirmation waits for the link, and goes out at once when it is there', async () => {
  const firm = await zoomFirm();
  const { path } = await book(firm, { email_confirmation: true });
  let during: string | undefined;
  zoom.behave = async ({ method }) => {
    if (method === 'POST') during ??= `${post.sent.length} ${(await ok(firm.patch(path, {}))).email_confirmation}`;
    return undefined;
  };
  await worker.runOnce();
  assert.equal(during, '0 scheduled');
  assert.deepEqual(
    post.sent.map(({ joinUrl }) => joinUrl),
    [only().join_url],
  );
});

test('a confirmation whose meeting failed goes out without a link after 15 minutes, and later ones do not wait', async () => {
  const firm = await zoomFirm();
  const { path } = await book(firm, { email_confirmation: true });
  zoom.behave = ({ method, path: at }) =>
    method === 'POST' && at !== '/oauth/token'
      ? { status: 400, body: { code: 300, message: 'Validation failed.' } }
      : undefined;
  await meetingRooms(world, zoom).runOnce();
  assert.equal((await meeting(firm, path)).state, 'failed');
  world.clock.advance({ minutes: 14, seconds: 59 });
  await worker.runOnce();
  assert.deepEqual(post.sent, []);
  world.clock.advance({ seconds: 1 });
  await worker.runOnce();
  assert.deepEqual(
    post.sent.map(({ joinUrl }) => joinUrl),
    [null],
  );
  await ok(firm.patch(path, { email_confirmation: true }));
  await worker.runOnce();
  assert.equal(post.sent.length, 2);
});

test('a failed meeting that is asked for again in time is in the confirmation that waited', async () => {
  const firm = await zoomFirm();
  const { path } = await book(firm, { email_confirmation: true });
  zoom.behave = ({ path: at }) =>
    at.endsWith('/meetings') ? { status: 400, body: { code: 300, message: 'No.' } } : undefined;
  await worker.runOnce();
  zoom.behave = () => undefined;
  world.clock.advance({ minutes: 5 });
  assert.equal((await ok(firm.post(`${path}/meeting`))).state, 'pending');
  await worker.runOnce();
  assert.deepEqual(
    post.sent.map(({ joinUrl }) => joinUrl),
    [only().join_url],
  );
});

test('a confirmation that could not be delivered once goes out at once too when the link is there', async () => {
  const firm = await zoomFirm();
  const { path } = await book(firm, { email_confirmation: true, video_meeting: false });
  const refusing: Sender = {
    send: () => Promise.reject(new DeliveryError('Not now.', { permanent: false })),
    close() {},
  };
  await meetingRooms(world, zoom, { sender: refusing }).runOnce();
  zoom.behave = ({ path: at }) => (at.endsWith('/meetings') ? { status: 503, body: {} } : undefined);
  await ok(firm.post(`${path}/meeting`));
  world.clock.advance({ seconds: 10 });
  await worker.runOnce();
  zoom.behave = () => undefined;
  world.clock.advance({ seconds: 30 });
  await worker.runOnce();
  assert.deepEqual(
    post.sent.map(({ joinUrl }) => joinUrl),
    [only().join_url],
  );
});

test('a confirmation that begins to wait at the moment the meeting is settled is not forgotten', async () => {
  const firm = await zoomFirm();
  for (let i = 0; i < 15; i++) await book(firm, { email_confirmation: true });
  const workers = Array.from({ length: 3 }, () => meetingRooms(world, zoom, { sender: post }));
  await Promise.all(workers.map((one) => one.runOnce()));
  assert.equal(post.sent.length, 15);
  assert.ok(post.sent.every(({ joinUrl }) => joinUrl));
});

// Changes

test('a move tells the provider, and the link stays', async () => {
  const firm = await zoomFirm();
  const { path } = await book(firm);
  await worker.runOnce();
  const before = await links(firm, path);
  await ok(firm.patch(path, MOVE));
  await worker.runOnce();
  const { start_time, duration } = only();
  assert.deepEqual([start_time, duration], ['2026-06-11T13:00:00Z', 45]);
  assert.deepEqual(await links(firm, path), before);
});

test('a change of the end alone tells the provider too', async () => {
  const firm = await zoomFirm();
  const { path } = await book(firm);
  await worker.runOnce();
  await ok(firm.patch(path, { end_time: '2026-06-10 11:30:00' }));
  await worker.runOnce();
  assert.equal(only().duration, 90);
});

test('notes, location and recipients are no provider’s affair', async () => {
  const firm = await zoomFirm();
  const { path } = await book(firm);
  await worker.runOnce();
  zoom.asked.length = 0;
  await ok(firm.patch(path, { notes: 'n', location: 'l', email_recipient: firm.customers[1].email }));
  await ok(firm.patch(path, { start_time: '2026-06-10 10:00:00' }));
  await ok(firm.patch(`${path}/outcome`, { type: 'review' }));
  assert.equal(await worker.runOnce(), 0);
  assert.deepEqual(zoom.asked, []);
});

test('a move while the meeting is being made is not lost', async () => {
  const firm = await zoomFirm();
  const { path } = await book(firm);
  let moved = false;
  zoom.behave = async ({ method, path: at }) => {
    if (method === 'POST' && at.startsWith('/v2') && !moved) {
      moved = true;
      await ok(firm.patch(path, MOVE));
    }
    return undefined;
  };
  await worker.runOnce();
  assert.equal(only().start_time, '2026-06-11T13:00:00Z');
  assert.equal((await meeting(firm, path)).state, 'ready');
});

test('a deletion while the meeting is being made leaves none', async () => {
  const firm = await zoomFirm();
  const { path } = await book(firm);
  zoom.behave = async ({ method, path: at }) => {
    if (method === 'POST' && at.startsWith('/v2')) await ok(firm.delete(path));
    return undefined;
  };
  await worker.runOnce();
  assert.equal(zoom.meetings.size, 0);
});

const ENDS: [what: string, end: (firm: Firm, path: string) => Promise<Answer>][] = [
  ['deleted', (firm, path) => firm.delete(path)],
  ['cancelled', (firm, path) => firm.patch(`${path}/outcome`, { cancelled: true })],
  ['no longer to have a meeting', (firm, path) => firm.delete(`${path}/meeting`)],
];
const BEGINNINGS: [what: string, begin: (firm: Firm, path: string) => Promise<Answer>][] = [
  ['restored', (firm, path) => firm.post(`${path}/restore`)],
  ['taking place after all', (firm, path) => firm.patch(`${path}/outcome`, { cancelled: false })],
  ['to have one again', (firm, path) => firm.post(`${path}/meeting`)],
];

for (const [i, [what, end]] of ENDS.entries()) {
  const [again, begin] = BEGINNINGS[i] ?? assert.fail();
  test(`the meeting of an appointment that is ${what} is removed, and another made when it is ${again}`, async () => {
    const firm = await zoomFirm();
    const { id, path } = await book(firm);
    await worker.runOnce();
    const [first] = await links(firm, path);
    await ok(end(firm, path));
    await worker.runOnce();
    assert.equal(zoom.meetings.size, 0);
    const [listed] = await ok(firm.get('/meetings'));
    assert.deepEqual(listed, {
      ...listed,
      appointment_id: id,
      state: 'none',
      provider: null,
      video_id: null,
      join_url: null,
    });
    await ok(begin(firm, path));
    await worker.runOnce();
    assert.deepEqual(await links(firm, path), [String(only().id), only().join_url]);
    assert.notEqual(String(only().id), first);
  });
}

test('an appointment that is cancelled before its meeting was made never gets one', async () => {
  const firm = await zoomFirm();
  const { path } = await book(firm);
  await ok(firm.patch(`${path}/outcome`, { cancelled: true }));
  await worker.runOnce();
  assert.deepEqual(zoom.asked, []);
  assert.equal((await meeting(firm, path)).state, 'none');
});

test('a cancelled appointment that is moved stays without a meeting', async () => {
  const firm = await zoomFirm();
  const { path } = await book(firm);
  await worker.runOnce();
  await ok(firm.patch(`${path}/outcome`, { cancelled: true }));
  await ok(firm.patch(path, MOVE));
  await worker.runOnce();
  assert.equal(zoom.meetings.size, 0);
});

// Asking and withdrawing

test('a meeting can be asked for after the booking', async () => {
  const firm = await zoomFirm();
  const { path } = await book(firm, { video_meeting: false });
  const asked = await ok(firm.post(`${path}/meeting`));
  assert.equal(asked.state, 'pending');
  await worker.runOnce();
  assert.deepEqual(await links(firm, path), [String(only().id), only().join_url]);
});

test('a meeting that is asked for while the appointment is being moved is made for the new time', async () => {
  const firm = await zoomFirm();
  const { path } = await book(firm, { video_meeting: false });
  const json = world.db.queryJson.bind(world.db);
  let between = 0;
  world.db.queryJson = async (statement, values) => {
    if (statement.name.startsWith('appointments.update') && between++ === 0) await ok(firm.post(`${path}/meeting`));
    return json(statement, values);
  };
  await ok(firm.patch(path, MOVE)).finally(() => {
    world.db.queryJson = json;
  });
  assert.equal(between, 2, 'the move was decided anew');
  await worker.runOnce();
  assert.deepEqual([only().start_time, only().duration], ['2026-06-11T13:00:00Z', 45]);
});

test('a meeting that is withdrawn, moved and asked for again has the new time', async () => {
  const firm = await zoomFirm();
  const { path } = await book(firm);
  await worker.runOnce();
  await ok(firm.delete(`${path}/meeting`));
  await worker.runOnce();
  await ok(firm.patch(path, MOVE));
  await worker.runOnce();
  assert.equal((await meeting(firm, path)).state, 'none');
  await ok(firm.post(`${path}/meeting`));
  await worker.runOnce();
  assert.deepEqual([only().start_time, only().duration], ['2026-06-11T13:00:00Z', 45]);
});

test('no meeting is made for what is cancelled, over, or with an adviser without an account', async () => {
  const firm = await zoomFirm();
  const cancelled = await book(firm);
  await ok(firm.patch(`${cancelled.path}/outcome`, { cancelled: true }));
  await refused(firm.post(`${cancelled.path}/meeting`), 'cancelled');
  const past = await book(firm, { start_time: '2026-05-01 10:00', end_time: '2026-05-01 11:00' });
  await refused(firm.post(`${past.path}/meeting`), 'end_time');
  const plain = await world.firm();
  const { path } = await book(plain);
  await refused(plain.post(`${path}/meeting`), 'adviser_email');
});

test('a meeting that is not wished for cannot be withdrawn', async () => {
  const firm = await zoomFirm();
  const { path } = await book(firm, { video_meeting: false });
  await refused(firm.delete(`${path}/meeting`), 'video_meeting');
});

test('meetings of another company, of unknown and of deleted appointments are 404', async () => {
  const [firm, other] = [await zoomFirm(), await zoomFirm()];
  const { path } = await book(firm);
  const gone = await book(firm);
  await ok(firm.delete(gone.path));
  for (const [caller, at] of [
    [other, path],
    [firm, gone.path],
    [firm, `${firm.path}/appointments/0198c0de-0000-7000-8000-000000000000`],
  ] as const) {
    for (const method of ['GET', 'POST', 'DELETE']) {
      assert.equal((await caller.send(method, `${at}/meeting`)).status, 404, `${method} ${at}`);
    }
  }
  assert.deepEqual(await ok(other.get('/meetings')), []);
});

test('the list of meetings comes in pages and by state', async () => {
  const firm = await zoomFirm();
  for (let i = 0; i < 3; i++) await book(firm);
  await worker.runOnce();
  const waiting = await book(firm);
  const page = await firm.get('/meetings?per_page=2');
  assert.deepEqual([page.body.length, page.headers['x-total-count']], [2, '4']);
  const pending = await ok(firm.get('/meetings?state=pending'));
  assert.deepEqual(
    pending.map((one: { appointment_id: string }) => one.appointment_id),
    [waiting.id],
  );
  assert.equal((await firm.get('/meetings?state=lost')).status, 400);
});

test('reading a meeting asks for appointments:read, changing it for appointments:write', async () => {
  const firm = await zoomFirm();
  const { path } = await book(firm);
  const [reader, writer] = [await firm.withScopes('appointments:read'), await firm.withScopes('appointments:write')];
  assert.equal((await reader.get(`${path}/meeting`)).status, 200);
  assert.equal((await writer.get(`${path}/meeting`)).status, 403);
  assert.equal((await reader.post(`${path}/meeting`)).status, 403);
  assert.equal((await reader.delete(`${path}/meeting`)).status, 403);
  assert.equal((await writer.delete(`${path}/meeting`)).status, 200);
});

test('meetings that a provider has yet to learn of are counted in the metrics', async () => {
  const firm = await zoomFirm();
  const due = async () => Number(/^meetings_due (\d+)$/m.exec((await world.anonymous.get('/metrics')).text)?.[1]);
  assert.equal(await due(), 0);
  await book(firm);
  assert.equal(await due(), 1);
  await worker.runOnce();
  assert.equal(await due(), 0);
});

// The adviser's account

test('another account: upcoming meetings are removed at the old one and made at the new one', async () => {
  const firm = await zoomFirm();
  const { path } = await book(firm);
  await worker.runOnce();
  await ok(firm.send('PUT', firm.account, { provider: 'zoom', ...CREDENTIALS, user: 'b@firm.example' }));
  await worker.runOnce();
  assert.equal(only().host_email, 'b@firm.example');
  assert.deepEqual(await links(firm, path), [String(only().id), only().join_url]);
  await ok(firm.send('PUT', firm.account, { provider: 'jitsi' }));
  await worker.runOnce();
  assert.equal(zoom.meetings.size, 0);
  assert.match((await links(firm, path))[1], /^https:\/\/meet\.firm\.example\//);
  assert.equal((await meeting(firm, path)).provider, 'jitsi');
});

/** A step of the meeting begins, and the account is changed before it has the adviser's row. */
async function beginAmid(firm: Firm & { adviserId: string }, id: string, change: Statement, values: unknown[]) {
  const claim = randomUUID();
  const lease = 'UPDATE meetings SET lease_by = $2, lease_until = due_at WHERE appointment_id = $1';
  await world.sql(lease, [id, claim]);
  const key = { company_id: firm.companyId, case_id: firm.caseId, appointment_id: id };
  const { signal } = new AbortController();
  const changed = [firm.companyId, firm.adviserId, ...values, toSql(world.clock.read()), WORKER_ORIGIN];
  await overlapping(world, [[change.text, changed]], () => [
    meetingSteps(world, zoom).handle(key, { id: claim, signal }),
  ]);
}

test('an account that is being changed while a step begins is waited for', async () => {
  const firm = await zoomFirm();
  const { id, path } = await book(firm);
  await beginAmid(firm, id, connectAccount, ['jitsi', null, null, null, null, null]);
  await worker.runOnce();
  assert.deepEqual([(await meeting(firm, path)).provider, zoom.asked], ['jitsi', []]);
});

test('another account that is connected while a step begins is used as soon as it is seen', async () => {
  const firm = await zoomFirm();
  const { id, path } = await book(firm);
  const sealed = secrets.seal(CREDENTIALS.client_secret, [firm.companyId, firm.adviserId]);
  const { account_id, client_id } = CREDENTIALS;
  await beginAmid(firm, id, connectAccount, ['zoom', randomUUID(), account_id, client_id, 'b@firm.example', sealed]);
  const { state, last_error } = await meeting(firm, path);
  assert.deepEqual([state, last_error], ['pending', 'The account has only just been connected.']);
  world.clock.advance({ seconds: 10 });
  await worker.runOnce();
  assert.deepEqual([only().host_email, (await meeting(firm, path)).state], ['b@firm.example', 'ready']);
});

test('the same account with another secret keeps its meetings', async () => {
  const firm = await zoomFirm();
  const { path } = await book(firm);
  await worker.runOnce();
  const before = await links(firm, path);
  zoom.asked.length = 0;
  await ok(firm.send('PUT', firm.account, { provider: 'zoom', ...CREDENTIALS, client_secret: 'another' }));
  assert.equal(await worker.runOnce(), 0);
  assert.deepEqual(await links(firm, path), before);
});

test('an account that is dead does not keep the new one waiting for long', async () => {
  const firm = await zoomFirm();
  const { path } = await book(firm);
  await worker.runOnce();
  zoom.behave = ({ method }) =>
    method === 'DELETE' ? { status: 500, body: { code: 500, message: 'Oops' } } : undefined;
  await ok(firm.send('PUT', firm.account, { provider: 'jitsi' }));
  for (let i = 0; i < 3; i++) {
    await worker.runOnce();
    world.clock.advance({ minutes: 1 });
  }
  assert.deepEqual([(await meeting(firm, path)).provider, (await meeting(firm, path)).state], ['jitsi', 'ready']);
});

test('a disconnected account leaves no meeting behind, and connecting again makes them anew', async () => {
  const firm = await zoomFirm();
  const { path } = await book(firm);
  await worker.runOnce();
  await ok(firm.delete(firm.account));
  await worker.runOnce();
  assert.equal(zoom.meetings.size, 0);
  assert.deepEqual(await links(firm, path), [null, null]);
  await ok(firm.send('PUT', firm.account, { provider: 'zoom', ...CREDENTIALS }));
  await worker.runOnce();
  assert.deepEqual(await links(firm, path), [String(only().id), only().join_url]);
});

test('an account that is disconnected while the meeting is being made leaves none behind', async () => {
  const firm = await zoomFirm();
  const { path } = await book(firm);
  zoom.behave = async ({ method, path: at }) => {
    if (method === 'POST' && at.startsWith('/v2')) await ok(firm.delete(firm.account));
    return undefined;
  };
  await worker.runOnce();
  assert.deepEqual([zoom.meetings.size, (await meeting(firm, path)).state], [0, 'none']);
  assert.deepEqual(await links(firm, path), [null, null]);
});

test('an account that is disconnected after the answer to the making was lost leaves none behind', async () => {
  const firm = await zoomFirm();
  const { path } = await book(firm);
  zoom.behave = ({ method, path: at }) => (method === 'POST' && at.startsWith('/v2') ? 'drop after' : undefined);
  await worker.runOnce();
  await ok(firm.delete(firm.account));
  await worker.runOnce();
  assert.deepEqual([zoom.meetings.size, (await meeting(firm, path)).state], [0, 'none']);
});

test('an account that is disconnected while a step begins is seen by that step', async () => {
  const firm = await zoomFirm();
  const { id } = await book(firm);
  await overlapping(
    world,
    [
      ['SELECT 1 FROM advisers WHERE id = $1 FOR SHARE', [firm.adviserId]],
      ['UPDATE meetings SET doubtful = true WHERE appointment_id = $1', [id]],
    ],
    () => [ok(firm.delete(firm.account))],
  );
  assert.deepEqual(await world.sql('SELECT wanted FROM meetings WHERE appointment_id = $1', [id]), [{ wanted: 2 }]);
});

test('meetings that are over stay where they are when the account changes', async () => {
  const firm = await zoomFirm();
  await book(firm);
  await worker.runOnce();
  world.clock.set('2026-06-10T10:00:00Z');
  await ok(firm.delete(firm.account));
  assert.equal(await worker.runOnce(), 0);
  assert.equal(zoom.meetings.size, 1);
});

test('a wish that was booked before the adviser had an account is met when one is connected', async () => {
  const firm = await world.firm();
  const { path } = await book(firm);
  const [{ id = '' } = {}] = await ok(firm.get(`/manage/advisers?search=${firm.adviser}`));
  await ok(firm.patch(`/manage/advisers/${id}`, { video_provider: 'jitsi' }));
  await worker.runOnce();
  assert.equal((await meeting(firm, path)).state, 'ready');
  await ok(firm.patch(`/manage/advisers/${id}`, { video_provider: null }));
  await worker.runOnce();
  assert.deepEqual(await links(firm, path), [null, null]);
});

test('a removed adviser’s meetings follow their appointments', async () => {
  const firm = await zoomFirm();
  const { path } = await book(firm);
  await worker.runOnce();
  await ok(firm.delete(`/manage/advisers/${firm.adviserId}`));
  await ok(firm.patch(path, MOVE));
  await worker.runOnce();
  assert.equal(only().duration, 45);
  await ok(firm.delete(path));
  await worker.runOnce();
  assert.equal(zoom.meetings.size, 0);
});
