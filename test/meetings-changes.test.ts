import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { connectAccount } from '../src/cases/appointments/meetings/accounts/statements.sql.ts';
import { WORKER_ORIGIN } from '../src/kernel/audit/audit-log.ts';
import { toSql } from '../src/kernel/time/time.ts';
import type { TestCompany } from './harness/app.ts';
import { ok, refused } from './harness/assert.ts';
import type { Answer } from './harness/http.ts';
import { meetingSteps, secrets } from './harness/meeting-worker.ts';
import { app, book, links, MOVE, meeting, only, worker, zoom, zoomCompany } from './harness/meetings.ts';
import { overlapping } from './harness/overlap.ts';
import { CREDENTIALS } from './harness/zoom.ts';

const refusedForState = (answer: Promise<Answer>, field: string) => refused(answer, { [field]: 'invalid_state' });

// Changes

test('a move tells the provider, and the link stays', async () => {
  const company = await zoomCompany();
  const { path } = await book(company);
  await worker.runOnce();
  const before = await links(company, path);
  await ok(company.patch(path, MOVE));
  await worker.runOnce();
  const { start_time, duration } = only();
  assert.deepEqual([start_time, duration], ['2026-06-11T13:00:00Z', 45]);
  assert.deepEqual(await links(company, path), before);
});

test('a change of the end alone tells the provider too', async () => {
  const company = await zoomCompany();
  const { path } = await book(company);
  await worker.runOnce();
  await ok(company.patch(path, { end_time: '2026-06-10 11:30:00' }));
  await worker.runOnce();
  assert.equal(only().duration, 90);
});

test('notes, location and recipients are no provider’s affair', async () => {
  const company = await zoomCompany();
  const { path } = await book(company);
  await worker.runOnce();
  zoom.asked.length = 0;
  await ok(company.patch(path, { notes: 'n', location: 'l', email_recipient: company.customers[1].email }));
  await ok(company.patch(path, { start_time: '2026-06-10 10:00:00' }));
  await ok(company.patch(`${path}/outcome`, { type: 'review' }));
  assert.equal(await worker.runOnce(), 0);
  assert.deepEqual(zoom.asked, []);
});

test('a move while the meeting is being made is not lost', async () => {
  const company = await zoomCompany();
  const { path } = await book(company);
  let moved = false;
  zoom.behave = async ({ method, path: at }) => {
    if (method === 'POST' && at.startsWith('/v2') && !moved) {
      moved = true;
      await ok(company.patch(path, MOVE));
    }
    return undefined;
  };
  await worker.runOnce();
  assert.equal(only().start_time, '2026-06-11T13:00:00Z');
  assert.equal((await meeting(company, path)).state, 'ready');
});

test('a deletion while the meeting is being made leaves none', async () => {
  const company = await zoomCompany();
  const { path } = await book(company);
  zoom.behave = async ({ method, path: at }) => {
    if (method === 'POST' && at.startsWith('/v2')) await ok(company.delete(path));
    return undefined;
  };
  await worker.runOnce();
  assert.equal(zoom.meetings.size, 0);
});

const ENDS: [what: string, end: (company: TestCompany, path: string) => Promise<Answer>][] = [
  ['deleted', (company, path) => company.delete(path)],
  ['cancelled', (company, path) => company.patch(`${path}/outcome`, { cancelled: true })],
  ['no longer to have a meeting', (company, path) => company.delete(`${path}/meeting`)],
];
const BEGINNINGS: [what: string, begin: (company: TestCompany, path: string) => Promise<Answer>][] = [
  ['restored', (company, path) => company.post(`${path}/restore`)],
  ['taking place after all', (company, path) => company.patch(`${path}/outcome`, { cancelled: false })],
  ['to have one again', (company, path) => company.post(`${path}/meeting`)],
];

for (const [i, [what, end]] of ENDS.entries()) {
  const [again, begin] = BEGINNINGS[i] ?? assert.fail();
  test(`the meeting of an appointment that is ${what} is removed, and another made when it is ${again}`, async () => {
    const company = await zoomCompany();
    const { id, path } = await book(company);
    await worker.runOnce();
    const [first] = await links(company, path);
    await ok(end(company, path));
    await worker.runOnce();
    assert.equal(zoom.meetings.size, 0);
    const [listed] = await ok(company.get('/meetings'));
    assert.deepEqual(listed, {
      ...listed,
      appointment_id: id,
      state: 'none',
      provider: null,
      video_id: null,
      join_url: null,
    });
    await ok(begin(company, path));
    await worker.runOnce();
    assert.deepEqual(await links(company, path), [String(only().id), only().join_url]);
    assert.notEqual(String(only().id), first);
  });
}

test('an appointment that is cancelled before its meeting was made never gets one', async () => {
  const company = await zoomCompany();
  const { path } = await book(company);
  await ok(company.patch(`${path}/outcome`, { cancelled: true }));
  await worker.runOnce();
  assert.deepEqual(zoom.asked, []);
  assert.equal((await meeting(company, path)).state, 'none');
});

test('a cancelled appointment that is moved stays without a meeting', async () => {
  const company = await zoomCompany();
  const { path } = await book(company);
  await worker.runOnce();
  await ok(company.patch(`${path}/outcome`, { cancelled: true }));
  await ok(company.patch(path, MOVE));
  await worker.runOnce();
  assert.equal(zoom.meetings.size, 0);
});

// Asking and withdrawing

test('a meeting can be asked for after the booking', async () => {
  const company = await zoomCompany();
  const { path } = await book(company, { video_meeting: false });
  const asked = await ok(company.post(`${path}/meeting`));
  assert.equal(asked.state, 'pending');
  await worker.runOnce();
  assert.deepEqual(await links(company, path), [String(only().id), only().join_url]);
});

test('a meeting that is requested while the appointment is being moved is made for the new time', async () => {
  const company = await zoomCompany();
  const { path } = await book(company, { video_meeting: false });
  const row = app.db.queryRow.bind(app.db);
  let between = 0;
  app.db.queryRow = async (query) => {
    if (query.statement.name.startsWith('appointments.update') && between++ === 0)
      await ok(company.post(`${path}/meeting`));
    return row(query);
  };
  await ok(company.patch(path, MOVE)).finally(() => {
    app.db.queryRow = row;
  });
  assert.equal(between, 2, 'the move was decided again');
  await worker.runOnce();
  assert.deepEqual([only().start_time, only().duration], ['2026-06-11T13:00:00Z', 45]);
});

test('a meeting that is withdrawn, moved and requested again has the new time', async () => {
  const company = await zoomCompany();
  const { path } = await book(company);
  await worker.runOnce();
  await ok(company.delete(`${path}/meeting`));
  await worker.runOnce();
  await ok(company.patch(path, MOVE));
  await worker.runOnce();
  assert.equal((await meeting(company, path)).state, 'none');
  await ok(company.post(`${path}/meeting`));
  await worker.runOnce();
  assert.deepEqual([only().start_time, only().duration], ['2026-06-11T13:00:00Z', 45]);
});

test('no meeting is made for what is cancelled, over, or with an adviser without an account', async () => {
  const company = await zoomCompany();
  const cancelled = await book(company);
  await ok(company.patch(`${cancelled.path}/outcome`, { cancelled: true }));
  await refusedForState(company.post(`${cancelled.path}/meeting`), 'cancelled');
  const past = await book(company, { start_time: '2026-05-01 10:00', end_time: '2026-05-01 11:00' });
  await refusedForState(company.post(`${past.path}/meeting`), 'end_time');
  const plain = await app.company();
  const { path } = await book(plain);
  await refusedForState(plain.post(`${path}/meeting`), 'adviser_email');
});

test('a meeting that is not wished for cannot be withdrawn', async () => {
  const company = await zoomCompany();
  const { path } = await book(company, { video_meeting: false });
  await refusedForState(company.delete(`${path}/meeting`), 'video_meeting');
});

test('meetings of another company, of unknown and of deleted appointments are 404', async () => {
  const [company, other] = [await zoomCompany(), await zoomCompany()];
  const { path } = await book(company);
  const gone = await book(company);
  await ok(company.delete(gone.path));
  for (const [caller, at] of [
    [other, path],
    [company, gone.path],
    [company, `${company.path}/appointments/0198c0de-0000-7000-8000-000000000000`],
  ] as const) {
    for (const method of ['GET', 'POST', 'DELETE']) {
      assert.equal((await caller.send(method, `${at}/meeting`)).status, 404, `${method} ${at}`);
    }
  }
  assert.deepEqual(await ok(other.get('/meetings')), []);
});

test('the list of meetings comes in pages and by state', async () => {
  const company = await zoomCompany();
  for (let i = 0; i < 3; i++) await book(company);
  await worker.runOnce();
  const waiting = await book(company);
  const page = await company.get('/meetings?per_page=2');
  assert.deepEqual([page.body.length, page.headers['x-total-count']], [2, '4']);
  const pending = await ok(company.get('/meetings?state=pending'));
  assert.deepEqual(
    pending.map((one: { appointment_id: string }) => one.appointment_id),
    [waiting.id],
  );
  assert.equal((await company.get('/meetings?state=lost')).status, 400);
});

test('reading a meeting asks for appointments:read, changing it for appointments:write', async () => {
  const company = await zoomCompany();
  const { path } = await book(company);
  const [reader, writer] = [
    await company.withScopes('appointments:read'),
    await company.withScopes('appointments:write'),
  ];
  assert.equal((await reader.get(`${path}/meeting`)).status, 200);
  assert.equal((await writer.get(`${path}/meeting`)).status, 403);
  assert.equal((await reader.post(`${path}/meeting`)).status, 403);
  assert.equal((await reader.delete(`${path}/meeting`)).status, 403);
  assert.equal((await writer.delete(`${path}/meeting`)).status, 200);
});

test('meetings that a provider has yet to learn of are counted in the metrics', async () => {
  const company = await zoomCompany();
  const due = async () => Number(/^meetings_due (\d+)$/m.exec((await app.anonymous.get('/metrics')).text)?.[1]);
  assert.equal(await due(), 0);
  await book(company);
  assert.equal(await due(), 1);
  await worker.runOnce();
  assert.equal(await due(), 0);
});

// The adviser's account

test('another account: upcoming meetings are removed at the old one and made at the new one', async () => {
  const company = await zoomCompany();
  const { path } = await book(company);
  await worker.runOnce();
  await ok(company.send('PUT', company.account, { provider: 'zoom', ...CREDENTIALS, user: 'b@firm.example' }));
  await worker.runOnce();
  assert.equal(only().host_email, 'b@firm.example');
  assert.deepEqual(await links(company, path), [String(only().id), only().join_url]);
  await ok(company.send('PUT', company.account, { provider: 'jitsi' }));
  await worker.runOnce();
  assert.equal(zoom.meetings.size, 0);
  assert.match((await links(company, path))[1], /^https:\/\/meet\.firm\.example\//);
  assert.equal((await meeting(company, path)).provider, 'jitsi');
});

/** A step of the meeting begins, and the account changes before the step has locked the adviser's row. */
async function beginAmid(
  company: TestCompany & { adviserId: string },
  id: string,
  account: Omit<Parameters<typeof connectAccount>[0], 'company_id' | 'id' | 'now' | 'origin'>,
) {
  const claim = randomUUID();
  const lease = 'UPDATE meetings SET lease_by = $2, lease_until = due_at WHERE appointment_id = $1';
  await app.sql(lease, [id, claim]);
  const key = { company_id: company.companyId, case_id: company.caseId, appointment_id: id };
  const { signal } = new AbortController();
  const { statement, values } = connectAccount({
    company_id: company.companyId,
    id: company.adviserId,
    ...account,
    now: toSql(app.clock.read()),
    origin: WORKER_ORIGIN,
  });
  await overlapping(
    app,
    [[statement.text, values]],
    [() => meetingSteps(app, zoom).handle(key, { id: claim, signal })],
  );
}

test('an account that is being changed while a step begins is waited for', async () => {
  const company = await zoomCompany();
  const { id, path } = await book(company);
  const none = { account_id: null, client_id: null, host: null, sealed_secret: null };
  await beginAmid(company, id, { provider: 'jitsi', video_account_id: randomUUID(), ...none });
  await worker.runOnce();
  assert.deepEqual([(await meeting(company, path)).provider, zoom.asked], ['jitsi', []]);
});

test('another account that is connected while a step begins is used as soon as it is seen', async () => {
  const company = await zoomCompany();
  const { id, path } = await book(company);
  const sealed = secrets.seal(CREDENTIALS.client_secret, [company.companyId, company.adviserId]);
  const { account_id, client_id } = CREDENTIALS;
  await beginAmid(company, id, {
    provider: 'zoom',
    video_account_id: randomUUID(),
    account_id,
    client_id,
    host: 'b@firm.example',
    sealed_secret: sealed,
  });
  const { state, last_error } = await meeting(company, path);
  assert.deepEqual([state, last_error], ['pending', 'The account has only just been connected.']);
  app.clock.advance({ seconds: 10 });
  await worker.runOnce();
  assert.deepEqual([only().host_email, (await meeting(company, path)).state], ['b@firm.example', 'ready']);
});

test('the same account with another secret keeps its meetings', async () => {
  const company = await zoomCompany();
  const { path } = await book(company);
  await worker.runOnce();
  const before = await links(company, path);
  zoom.asked.length = 0;
  await ok(company.send('PUT', company.account, { provider: 'zoom', ...CREDENTIALS, client_secret: 'another' }));
  assert.equal(await worker.runOnce(), 0);
  assert.deepEqual(await links(company, path), before);
});

test('an account that is dead does not keep the new one waiting for long', async () => {
  const company = await zoomCompany();
  const { path } = await book(company);
  await worker.runOnce();
  zoom.behave = ({ method }) =>
    method === 'DELETE' ? { status: 500, body: { code: 500, message: 'Oops' } } : undefined;
  await ok(company.send('PUT', company.account, { provider: 'jitsi' }));
  for (let i = 0; i < 3; i++) {
    await worker.runOnce();
    app.clock.advance({ minutes: 1 });
  }
  assert.deepEqual([(await meeting(company, path)).provider, (await meeting(company, path)).state], ['jitsi', 'ready']);
});

test('a disconnected account leaves no meeting behind, and connecting it again creates them again', async () => {
  const company = await zoomCompany();
  const { path } = await book(company);
  await worker.runOnce();
  await ok(company.delete(company.account));
  await worker.runOnce();
  assert.equal(zoom.meetings.size, 0);
  assert.deepEqual(await links(company, path), [null, null]);
  await ok(company.send('PUT', company.account, { provider: 'zoom', ...CREDENTIALS }));
  await worker.runOnce();
  assert.deepEqual(await links(company, path), [String(only().id), only().join_url]);
});

test('an account that is disconnected while the meeting is being made leaves none behind', async () => {
  const company = await zoomCompany();
  const { path } = await book(company);
  zoom.behave = async ({ method, path: at }) => {
    if (method === 'POST' && at.startsWith('/v2')) await ok(company.delete(company.account));
    return undefined;
  };
  await worker.runOnce();
  assert.deepEqual([zoom.meetings.size, (await meeting(company, path)).state], [0, 'none']);
  assert.deepEqual(await links(company, path), [null, null]);
});

test('an account that is disconnected after the answer to the making was lost leaves none behind', async () => {
  const company = await zoomCompany();
  const { path } = await book(company);
  zoom.behave = ({ method, path: at }) => (method === 'POST' && at.startsWith('/v2') ? 'drop after' : undefined);
  await worker.runOnce();
  await ok(company.delete(company.account));
  await worker.runOnce();
  assert.deepEqual([zoom.meetings.size, (await meeting(company, path)).state], [0, 'none']);
});

test('an account that is disconnected while a step begins is seen by that step', async () => {
  const company = await zoomCompany();
  const { id } = await book(company);
  await overlapping(
    app,
    [
      ['SELECT 1 FROM advisers WHERE id = $1 FOR SHARE', [company.adviserId]],
      ['UPDATE meetings SET doubtful = true WHERE appointment_id = $1', [id]],
    ],
    [() => ok(company.delete(company.account))],
  );
  assert.deepEqual(await app.sql('SELECT wanted FROM meetings WHERE appointment_id = $1', [id]), [{ wanted: 2 }]);
});

test('meetings that are over stay where they are when the account changes', async () => {
  const company = await zoomCompany();
  await book(company);
  await worker.runOnce();
  app.clock.set('2026-06-10T10:00:00Z');
  await ok(company.delete(company.account));
  assert.equal(await worker.runOnce(), 0);
  assert.equal(zoom.meetings.size, 1);
});

test('a wish that was booked before the adviser had an account is met when one is connected', async () => {
  const company = await app.company();
  const { path } = await book(company);
  const [{ id = '' } = {}] = await ok(company.get(`/manage/advisers?search=${company.adviser}`));
  await ok(company.patch(`/manage/advisers/${id}`, { video_provider: 'jitsi' }));
  await worker.runOnce();
  assert.equal((await meeting(company, path)).state, 'ready');
  await ok(company.patch(`/manage/advisers/${id}`, { video_provider: null }));
  await worker.runOnce();
  assert.deepEqual(await links(company, path), [null, null]);
});

test('a removed adviser’s meetings follow their appointments', async () => {
  const company = await zoomCompany();
  const { path } = await book(company);
  await worker.runOnce();
  await ok(company.delete(`/manage/advisers/${company.adviserId}`));
  await ok(company.patch(path, MOVE));
  await worker.runOnce();
  assert.equal(only().duration, 45);
  await ok(company.delete(path));
  await worker.runOnce();
  assert.equal(zoom.meetings.size, 0);
});
