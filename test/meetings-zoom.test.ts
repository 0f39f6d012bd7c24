import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { beforeEach, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { SecretBox } from '../src/kernel/secret-box.ts';
import { startApp, type TestCompany } from './harness/app.ts';
import { ok } from './harness/assert.ts';
import { KEYS, meetingWorker, openZoom, secrets } from './harness/meeting-worker.ts';
import { until } from './harness/until.ts';
import { type Asked, type Behaviour, CREDENTIALS } from './harness/zoom.ts';

/** The requests to Zoom, and what happens to a meeting if Zoom refuses, stays silent, or a worker dies. */

const app = await startApp({ secrets });
const zoom = await openZoom();
const worker = meetingWorker(app, zoom);

beforeEach(async () => {
  app.clock.set('2026-06-01T09:00:00Z');
  await app.sql(`UPDATE meetings SET state = 'none' WHERE state = 'pending'`);
  zoom.reset();
});

const connect = (company: TestCompany, id: string, more: Record<string, unknown> = {}) =>
  ok(company.send('PUT', `/manage/advisers/${id}/video-account`, { provider: 'zoom', ...CREDENTIALS, ...more }));

async function zoomCompany(): Promise<TestCompany & { adviserId: string }> {
  const company = await app.company();
  const [{ id = '' } = {}] = await ok(company.get(`/manage/advisers?search=${company.adviser}`));
  await connect(company, id);
  return { ...company, adviserId: id };
}

/** Books an appointment on 10 June at 10:00 wall time (09:00 UTC) for an hour. */
async function book(company: TestCompany, more: Record<string, unknown> = {}) {
  const { id } = await ok(
    company.post(`${company.path}/appointments`, {
      adviser_email: company.adviser,
      start_time: '2026-06-10 10:00:00',
      end_time: '2026-06-10 11:00:00',
      video_meeting: true,
      notes: 'about John',
      location: 'at home',
      ...more,
    }),
  );
  return { id: id as string, path: `${company.path}/appointments/${id}` };
}

const meeting = (company: TestCompany, path: string) => ok(company.get(`${path}/meeting`));
const MOVE = { start_time: '2026-06-11 14:00:00', end_time: '2026-06-11 14:45:00' };
const methods = () => zoom.asked.map(({ method }) => method);
const isCreate = ({ method, path }: Asked) => method === 'POST' && path.startsWith('/v2');

/** Answers the next request of this kind, and no other, in this way. */
function nextTime(which: (asked: Asked) => boolean, behaviour: Behaviour): void {
  let done = false;
  zoom.behave = (asked) => {
    if (done || !which(asked)) return undefined;
    done = true;
    return behaviour;
  };
}

// Requests

test('a meeting is made with the time in UTC, the zone, its length, and nothing about the client', async () => {
  const company = await zoomCompany();
  await book(company);
  await worker.runOnce();
  const [{ method, path, body, headers } = assert.fail()] = zoom.asked;
  assert.deepEqual([method, path], ['POST', '/v2/users/a%40firm.example/meetings']);
  assert.match(headers.authorization, /^Bearer token-acc-1-\d+$/);
  assert.match(body.agenda, /^Reference [0-9a-f-]{36}$/);
  assert.deepEqual(body, {
    type: 2,
    topic: 'Appointment with Smith & Partners',
    agenda: body.agenda,
    start_time: '2026-06-10T09:00:00Z',
    duration: 60,
    timezone: 'Europe/London',
  });
});

test('a length that is no whole number of minutes is rounded up', async () => {
  const company = await zoomCompany();
  await book(company, { end_time: '2026-06-10 10:30:01' });
  await worker.runOnce();
  assert.equal(zoom.asked[0]?.body.duration, 31);
});

test('one access token serves until shortly before it ends', async () => {
  const company = await zoomCompany();
  const fresh = meetingWorker(app, zoom);
  const before = zoom.tokens.given;
  for (const [seconds, given] of [
    [0, 1],
    [3538, 1],
    [1, 2],
  ] as const) {
    app.clock.advance({ seconds });
    await book(company);
    await fresh.runOnce();
    assert.equal(zoom.tokens.given - before, given);
  }
});

test('a token that Zoom no longer takes is replaced, and the request repeated once', async () => {
  const company = await zoomCompany();
  await book(company);
  await worker.runOnce();
  zoom.tokens.valid.clear();
  const before = zoom.tokens.given;
  const { path } = await book(company);
  await worker.runOnce();
  assert.equal(zoom.tokens.given - before, 1);
  assert.deepEqual([(await meeting(company, path)).state, (await meeting(company, path)).attempts], ['ready', 1]);
});

// Temporary faults

test('a refused login is retried, and immediately when the account is connected again', async () => {
  const company = await zoomCompany();
  await connect(company, company.adviserId, { client_secret: 'wrong' });
  const { path } = await book(company);
  await worker.runOnce();
  const waiting = await meeting(company, path);
  assert.deepEqual(
    [waiting.state, waiting.last_error],
    ['pending', 'No access token: Zoom answered 400: Invalid client_id or client_secret'],
  );
  assert.equal(await worker.runOnce(), 0);
  await connect(company, company.adviserId);
  await worker.runOnce();
  assert.deepEqual([(await meeting(company, path)).state, (await meeting(company, path)).last_error], ['ready', null]);
});

test('a waiting removal is retried immediately when the account is connected again', async () => {
  const company = await zoomCompany();
  const { path } = await book(company);
  await worker.runOnce();
  await connect(company, company.adviserId, { client_secret: 'wrong' });
  await ok(company.delete(path));
  await worker.runOnce();
  assert.deepEqual([zoom.meetings.size, await worker.runOnce()], [1, 0]);
  await connect(company, company.adviserId);
  await worker.runOnce();
  assert.equal(zoom.meetings.size, 0);
});

const RETRY_AFTER: [form: string, value: string][] = [
  ['seconds', '90'],
  ['a date of HTTP', 'Mon, 01 Jun 2026 09:01:30 GMT'],
  ['an ISO time', '2026-06-01T09:01:30Z'],
];
for (const [form, value] of RETRY_AFTER) {
  test(`429 with Retry-After as ${form} is asked again then, and not before`, async () => {
    const company = await zoomCompany();
    const { path } = await book(company);
    const body = { code: 429, message: 'You have reached the maximum per-second rate limit for this API.' };
    nextTime(isCreate, { status: 429, body, headers: { 'retry-after': value } });
    await worker.runOnce();
    app.clock.advance({ seconds: 89 });
    assert.equal(await worker.runOnce(), 0);
    assert.match((await meeting(company, path)).last_error, /^Zoom answered 429: You have reached/);
    app.clock.advance({ seconds: 1 });
    await worker.runOnce();
    assert.equal((await meeting(company, path)).state, 'ready');
    assert.deepEqual(methods(), ['POST', 'POST']);
  });
}

test('429 until after the appointment is over ends as failed', async () => {
  const company = await zoomCompany();
  const { path } = await book(company);
  nextTime(isCreate, {
    status: 429,
    body: { code: 429, message: 'Daily limit.' },
    headers: { 'retry-after': '2026-06-10T10:00:00Z' },
  });
  await worker.runOnce();
  assert.deepEqual(
    [(await meeting(company, path)).state, (await meeting(company, path)).last_error],
    ['failed', 'Zoom answered 429: Daily limit. (429)'],
  );
});

test('a server that fails is asked again after growing pauses', async () => {
  const company = await zoomCompany();
  const { path } = await book(company);
  zoom.behave = (asked) => (asked.path.startsWith('/v2') ? { status: 503, body: 'away' } : undefined);
  await worker.runOnce();
  for (const seconds of [10, 30, 120, 600]) {
    app.clock.advance({ seconds: seconds - 1 });
    assert.equal(await worker.runOnce(), 0);
    app.clock.advance({ seconds: 1 });
    assert.equal(await worker.runOnce(), 1);
  }
  const waiting = await meeting(company, path);
  assert.deepEqual([waiting.state, waiting.attempts], ['pending', 5]);
  zoom.behave = () => undefined;
  app.clock.advance({ minutes: 30 });
  await worker.runOnce();
  assert.equal((await meeting(company, path)).state, 'ready');
});

test('a meeting that could not be made until its appointment was over is abandoned', async () => {
  const company = await zoomCompany();
  const { path } = await book(company);
  zoom.behave = () => ({ status: 503, body: {} });
  await worker.runOnce();
  app.clock.set('2026-06-10T10:00:00Z');
  zoom.behave = () => undefined;
  await worker.runOnce();
  assert.deepEqual([(await meeting(company, path)).state, zoom.meetings.size], ['failed', 0]);
  assert.match((await meeting(company, path)).last_error, /503/);
});

test('a worker with the wrong key says so and goes on trying', async () => {
  const company = await zoomCompany();
  const { path } = await book(company);
  await meetingWorker(app, zoom, { secrets: new SecretBox([KEYS[1]]) }).runOnce();
  const waiting = await meeting(company, path);
  assert.equal(waiting.state, 'pending');
  assert.match(waiting.last_error, /^SECRETS_KEY has changed: the account's secret cannot be decrypted\. /);
  app.clock.advance({ seconds: 10 });
  await worker.runOnce();
  assert.equal((await meeting(company, path)).state, 'ready');
});

test('a Zoom that never answers holds up no request and no other company', async (t) => {
  const [stuck, other] = [await zoomCompany(), await zoomCompany()];
  await connect(stuck, stuck.adviserId, { user: 'stuck@firm.example' });
  for (let i = 0; i < 20; i++) await book(stuck);
  zoom.behave = ({ path }) => (path.includes('stuck') ? 'hang' : undefined);
  const patient = meetingWorker(app, zoom, { timeoutMs: 60_000 });
  t.after(() => patient.stop(10));
  await patient.start();
  const hanging = () => zoom.asked.filter(({ path }) => path.includes('stuck')).length;
  await until(() => hanging() >= 8);
  const { path } = await book(other);
  await until(async () => (await meeting(other, path)).state === 'ready');
  assert.equal(hanging(), 8, 'no more than its share of the slots');
});

// Permanent faults

test('400 ends as failed, with what Zoom says', async () => {
  const company = await zoomCompany();
  const { path } = await book(company);
  zoom.behave = (asked) =>
    isCreate(asked)
      ? { status: 400, body: { code: 4711, message: 'Invalid access token, does not contain scopes.' } }
      : undefined;
  await worker.runOnce();
  const failed = await meeting(company, path);
  assert.deepEqual(
    [failed.state, failed.attempts, failed.last_error],
    ['failed', 1, 'Zoom answered 400: Invalid access token, does not contain scopes. (4711)'],
  );
  app.clock.advance({ hours: 5 });
  assert.equal(await worker.runOnce(), 0);
});

for (const [what, answer, state, last_error] of [
  ['a refusal', { status: 400, body: { code: 300, message: 'N\0o.' } }, 'failed', 'Zoom answered 400: No. (300)'],
  ['a link', { status: 201, body: { id: '8\0', join_url: 'https://us05web.zoom.us/j/8\0' } }, 'ready', null],
] as const) {
  test(`${what} with a character that no database keeps is written down without it`, async () => {
    const company = await zoomCompany();
    const { path } = await book(company);
    nextTime(isCreate, answer);
    await worker.runOnce();
    const settled = await meeting(company, path);
    assert.deepEqual([settled.state, settled.last_error], [state, last_error]);
    if (state === 'ready') assert.deepEqual([settled.video_id, settled.join_url], ['8', 'https://us05web.zoom.us/j/8']);
  });
}

test('a failed meeting is retried when its appointment moves', async () => {
  const company = await zoomCompany();
  const { path } = await book(company);
  nextTime(isCreate, { status: 400, body: { code: 300, message: 'No.' } });
  await worker.runOnce();
  await ok(company.patch(path, MOVE));
  await worker.runOnce();
  assert.equal((await meeting(company, path)).state, 'ready');
  assert.deepEqual(methods(), ['POST', 'POST'], 'a refusal leaves nothing to look for');
});

test('an answer without a link is no meeting, and what it may have left is found again', async () => {
  const company = await zoomCompany();
  const { path } = await book(company);
  nextTime(isCreate, { status: 201, body: { id: 5, join_url: 'javascript:alert(1)' } });
  await worker.runOnce();
  assert.deepEqual([(await meeting(company, path)).state, (await meeting(company, path)).join_url], ['pending', null]);
});

// Meetings that Zoom no longer has

test('404 on a removal counts as done', async () => {
  const company = await zoomCompany();
  const { path } = await book(company);
  await worker.runOnce();
  zoom.meetings.clear();
  await ok(company.delete(`${path}/meeting`));
  await worker.runOnce();
  assert.deepEqual([(await meeting(company, path)).state, (await meeting(company, path)).last_error], ['none', null]);
});

test('404 on an update makes a new meeting', async () => {
  const company = await zoomCompany();
  const { path } = await book(company);
  await worker.runOnce();
  const before = await meeting(company, path);
  zoom.meetings.clear();
  await ok(company.patch(path, MOVE));
  await worker.runOnce();
  const after = await meeting(company, path);
  assert.deepEqual([after.state, [...zoom.meetings.keys()]], ['ready', [after.video_id]]);
  assert.notEqual(after.video_id, before.video_id);
  assert.equal([...zoom.meetings.values()][0]?.start_time, '2026-06-11T13:00:00Z');
});

test('a removal that fails is retried, until a day after the end', async () => {
  const company = await zoomCompany();
  const { path } = await book(company);
  await worker.runOnce();
  await ok(company.delete(path));
  zoom.behave = ({ method }) => (method === 'DELETE' ? { status: 502, body: {} } : undefined);
  await worker.runOnce();
  app.clock.set('2026-06-11T09:00:00Z');
  await worker.runOnce();
  assert.equal((await ok(company.get('/meetings')))[0].state, 'pending');
  app.clock.set('2026-06-11T10:00:00Z');
  await worker.runOnce();
  assert.deepEqual(
    (await ok(company.get('/meetings'))).map((one: Record<string, string>) => [one.state, one.last_error]),
    [['failed', 'Zoom answered 502: no reason given']],
  );
});

// Lost answers

for (const [what, behaviour] of [
  ['the answer does not come', 'hang after'],
  ['the connection breaks', 'drop after'],
] as const) {
  test(`if a meeting is made and ${what}, it is found again and not made twice`, async () => {
    const company = await zoomCompany();
    for (let i = 0; i < 4; i++) await book(company);
    await worker.runOnce();
    nextTime(isCreate, behaviour);
    const { path } = await book(company);
    await meetingWorker(app, zoom, { timeoutMs: 500 }).runOnce();
    assert.deepEqual([(await meeting(company, path)).state, zoom.meetings.size], ['pending', 5]);
    app.clock.advance({ seconds: 10 });
    await worker.runOnce();
    const found = await meeting(company, path);
    assert.deepEqual([found.state, zoom.meetings.size], ['ready', 5]);
    assert.equal(zoom.meetings.get(found.video_id)?.join_url, found.join_url);
  });
}

test('a lost answer to a meeting that is no longer wanted leaves none behind', async () => {
  const company = await zoomCompany();
  const { path } = await book(company);
  nextTime(isCreate, 'drop after');
  await worker.runOnce();
  await ok(company.delete(path));
  await worker.runOnce();
  assert.equal(zoom.meetings.size, 0);
});

test('a worker that is killed between its intent and the answer: another finds the meeting', async () => {
  const company = await zoomCompany();
  const { path } = await book(company);
  const { apiUrl, oauthUrl } = zoom;
  const key = KEYS[0].toString('base64');
  const settings = { connection: app.connection, apiUrl, oauthUrl, key, now: app.clock.read().toString() };
  const program = fileURLToPath(new URL('harness/meeting-worker-process.ts', import.meta.url));
  const child = spawn(process.execPath, [program, JSON.stringify(settings)], { stdio: 'inherit' });
  const ended = once(child, 'exit');
  nextTime(isCreate, 'hang after');
  const behave = zoom.behave;
  zoom.behave = async (asked) => {
    const behaviour = await behave(asked);
    if (behaviour) child.kill('SIGKILL');
    return behaviour;
  };
  assert.deepEqual(await ended, [null, 'SIGKILL']);
  assert.deepEqual([zoom.meetings.size, (await meeting(company, path)).video_id], [1, null]);
  app.clock.advance({ seconds: 44 });
  assert.equal(await worker.runOnce(), 0, 'its lease still holds');
  app.clock.advance({ seconds: 2 });
  await Promise.all([worker.runOnce(), meetingWorker(app, zoom).runOnce()]);
  const found = await meeting(company, path);
  assert.deepEqual([found.state, [...zoom.meetings.keys()]], ['ready', [found.video_id]]);
});

test('concurrent workers make one meeting per appointment', async () => {
  const company = await zoomCompany();
  for (let i = 0; i < 20; i++) await book(company);
  const workers = Array.from({ length: 4 }, () => meetingWorker(app, zoom));
  await Promise.all(workers.map((one) => one.runOnce()));
  assert.deepEqual([zoom.meetings.size, methods().length], [20, 20]);
});

test('a change while a step is in progress begins no second one beside it', async () => {
  const company = await zoomCompany();
  const { path } = await book(company);
  const beside: number[] = [];
  zoom.behave = async (asked) => {
    if (!isCreate(asked)) return undefined;
    await ok(company.patch(path, MOVE));
    beside.push(await meetingWorker(app, zoom).runOnce());
    return undefined;
  };
  await worker.runOnce();
  assert.deepEqual([beside, methods()], [[0], ['POST', 'PATCH']]);
});

/** A worker that is held up for longer than its lease while it makes a meeting. */
async function heldUp(company: TestCompany): Promise<{ path: string; goOn: () => Promise<unknown> }> {
  const { path } = await book(company);
  const slow = meetingWorker(app, zoom, { timeoutMs: 60_000, slots: 1 });
  const held = Promise.withResolvers<undefined>();
  const reached = Promise.withResolvers<void>();
  let first = true;
  zoom.behave = (asked) => {
    if (!first || !isCreate(asked)) return undefined;
    first = false;
    reached.resolve();
    return held.promise;
  };
  const running = slow.runOnce();
  await reached.promise;
  app.clock.advance({ seconds: 46 });
  return {
    path,
    goOn: () => {
      held.resolve(undefined);
      return running;
    },
  };
}

test('a worker that was held up for longer than its lease makes a second meeting, and one of them is removed', async () => {
  const company = await zoomCompany();
  const { path, goOn } = await heldUp(company);
  await worker.runOnce();
  const made = await meeting(company, path);
  assert.deepEqual([made.state, zoom.meetings.size], ['ready', 1]);
  await goOn();
  await worker.runOnce();
  const kept = await meeting(company, path);
  assert.deepEqual([kept.state, kept.video_id, [...zoom.meetings.keys()]], ['ready', made.video_id, [made.video_id]]);
});

test('a worker that was held up while the adviser went elsewhere takes back what it makes', async () => {
  const company = await zoomCompany();
  const { path, goOn } = await heldUp(company);
  await ok(company.send('PUT', `/manage/advisers/${company.adviserId}/video-account`, { provider: 'jitsi' }));
  await worker.runOnce();
  assert.equal((await meeting(company, path)).provider, 'jitsi');
  await goOn();
  assert.equal(zoom.meetings.size, 0);
  assert.deepEqual([(await meeting(company, path)).provider, (await meeting(company, path)).state], ['jitsi', 'ready']);
});
