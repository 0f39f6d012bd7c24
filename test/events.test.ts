import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { eventId } from '../src/events/event-id.ts';
import { purgeOldEvents } from '../src/events/retention.ts';
import { readMigrations } from '../src/kernel/schema/migrations.ts';
import { SERVICE_ROLE } from '../src/postgres/bundled-postgres.ts';
import { GRANTS, setUpDatabase } from '../src/server/database-setup.ts';
import { startApp, type TestCompany } from './harness/app.ts';
import { assertNotFound } from './harness/assert.ts';
import type { Answer } from './harness/http.ts';
import { untilBlocked } from './harness/overlap.ts';

const app = await startApp();

type Event = { id: string; type: string; record: { id: string }; case_id: string | null } & Record<string, unknown>;

const ids = (answer: Answer) => (answer.body as Event[]).map(({ id }) => id);
const nextOf = (answer: Answer) => /^<([^>]+)>; rel="next"$/.exec(String(answer.headers.link))?.[1] ?? '';

async function call(company: TestCompany, notes = 'a call', path = company.path): Promise<string> {
  const made = await company.post(`${path}/interactions`, { type: 'phone', notes });
  assert.equal(made.status, 200, made.text);
  return made.body.id;
}

async function read(company: Pick<TestCompany, 'get'>, path: string): Promise<Event[]> {
  const answer = await company.get(path);
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
}

/** The events of the company's interactions, the only records of most of these tests. */
const calls = (company: TestCompany, more = '') => read(company, `/events?types=interaction.*${more}`);

test('an event says who, when, what, in which request and in which case', async () => {
  const company = await app.company();
  app.clock.set('2026-06-01T09:00:00Z');
  const id = await call(company, 'before');
  app.clock.set('2026-06-02T10:00:00Z');
  const headers = { 'x-request-id': 'from-the-callers-trace' };
  await company.patch(`${company.path}/interactions/${id}`, { type: 'letter', notes: 'after' }, headers);
  const [, event] = await calls(company);
  assert.deepEqual(event?.record, { type: 'interaction', id });
  assert.equal(event.type, 'interaction.updated');
  assert.equal(event.at, '2026-06-02T10:00:00.000000Z');
  assert.equal(event.case_id, company.caseId);
  assert.equal(event.request_id, 'from-the-callers-trace');
  const { type, name } = event.actor as Record<string, string>;
  assert.deepEqual([type, name], ['key', 'test']);
  assert.deepEqual(event.changed, ['notes', 'type', 'updated_at']);
  const { before, after } = event as unknown as Record<'before' | 'after', Record<string, string>>;
  assert.deepEqual([before.type, before.notes], ['phone', 'before']);
  assert.deepEqual([after.type, after.notes], ['letter', 'after']);
});

test('one event is read by its id, by its own company only', async () => {
  const company = await app.company();
  await call(company);
  const [event] = await calls(company);
  assert.deepEqual(await read(company, `/events/${event?.id}`), event);
  const stranger = await app.company();
  for (const [caller, id] of [
    [stranger, event?.id],
    [company, eventId(Buffer.alloc(16), 1n)],
    [company, 'evt_x'],
  ] as const) {
    assertNotFound(await caller.get(`/events/${id}`));
  }
});

test('what a record became stays what it was, however often it is changed later', async () => {
  const company = await app.company();
  const id = await call(company, '0');
  const one = `${company.path}/interactions/${id}`;
  for (const notes of ['1', '2']) await company.patch(one, { type: 'phone', notes });
  await company.delete(one);
  await company.post(`${one}/restore`);
  const history = await read(company, `${one}/history`);
  assert.deepEqual(
    history.map(({ type }) => type),
    ['created', 'updated', 'updated', 'deleted', 'restored'].map((verb) => `interaction.${verb}`),
  );
  const images = history.flatMap(({ before, after }) => [before, after] as Record<string, unknown>[]);
  assert.deepEqual(
    images.map((image) => image && [image.notes, image.deleted_at !== null]),
    [
      null,
      ['0', false],
      ['0', false],
      ['1', false],
      ['1', false],
      ['2', false],
      ['2', false],
      ['2', true],
      ['2', true],
      ['2', false],
    ],
  );
});

test('the log is followed by its links, each event once, none left out', async () => {
  const company = await app.company();
  const made = await Promise.all(Array.from({ length: 25 }, (_, i) => call(company, String(i))));
  const seen: string[] = [];
  let path = '/events?types=interaction.created&limit=10';
  for (;;) {
    const answer = await company.get(path);
    seen.push(...(answer.body as Event[]).map(({ record }) => record.id));
    path = nextOf(answer);
    if (answer.body.length === 0) break;
  }
  assert.deepEqual(seen.toSorted(), made.toSorted());
  const later = await call(company);
  assert.deepEqual(
    (await read(company, path)).map(({ record }) => record.id),
    [later],
  );
});

test('after=latest gives nothing of what is there, and the link to what follows', async () => {
  const company = await app.company();
  await call(company);
  const answer = await company.get('/events?after=latest');
  assert.deepEqual(answer.body, []);
  const id = await call(company);
  assert.deepEqual(
    (await read(company, nextOf(answer))).map(({ record }) => record.id),
    [id],
  );
});

test('the history of a record can be followed from now on', async () => {
  const company = await app.company();
  const one = `${company.path}/interactions/${await call(company)}`;
  const latest = await company.get(`${one}/history?after=latest`);
  assert.deepEqual(latest.body, []);
  await company.patch(one, { type: 'phone', notes: 'later' });
  const next = await company.get(nextOf(latest));
  assert.deepEqual(
    (next.body as Event[]).map(({ type }) => type),
    ['interaction.updated'],
  );
  assert.deepEqual(await read(company, nextOf(next)), []);
});

test('a reader who has seen a later event still gets one that is committed after it', async () => {
  const company = await app.company();
  const holder = new pg.Client(app.connection);
  await holder.connect();
  try {
    const first = await call(company);
    const latest = await company.get('/events?types=interaction.*');
    // The event is written, but the reference to the case cannot be checked yet: a transaction that commits late.
    await holder.query('BEGIN');
    await holder.query('SELECT 1 FROM cases WHERE id = $1 FOR UPDATE', [company.caseId]);
    const slow = company.post(`${company.path}/interactions`, { type: 'phone', notes: 'slow' });
    await untilBlocked(app);
    const other = (await company.post('/manage/cases', { reference: 'other' })).body.id;
    const quick = await call(company, 'quick', `/cases/${other}`);
    const meanwhile = await company.get(nextOf(latest));
    assert.deepEqual(meanwhile.body, [], 'the quick one waits for the slow one');
    const history = await read(company, `/cases/${other}/interactions/${quick}/history`);
    assert.equal(history.length, 1, 'a history waits for no write');
    await holder.query('COMMIT');
    assert.equal((await slow).status, 200);
    const notes = (await read(company, nextOf(meanwhile))).map(({ after }) => (after as { notes: string }).notes);
    assert.deepEqual(notes, ['slow', 'quick']);
    assert.equal((await calls(company))[0]?.record.id, first);
  } finally {
    await holder.end();
  }
});

test('while many write and one follows, nothing is missed and nothing comes twice', async () => {
  const company = await app.company();
  const writers = Array.from({ length: 8 }, async (_, writer) => {
    for (let i = 0; i < 15; i++) {
      const key = i % 2 ? { 'idempotency-key': `${writer}-${i}` } : {};
      const made = await company.post(`${company.path}/interactions`, { type: 'phone', notes: `${writer} ${i}` }, key);
      assert.equal(made.status, 200, made.text);
    }
  });
  let writing = true;
  const written = Promise.all(writers).then(() => {
    writing = false;
  });
  const seen: string[] = [];
  let path = '/events?types=interaction.created&limit=7';
  for (;;) {
    const ending = !writing;
    const answer = await company.get(path);
    seen.push(...ids(answer));
    path = nextOf(answer);
    if (ending && answer.body.length === 0) break;
  }
  await written;
  assert.equal(seen.length, 120);
  assert.equal(new Set(seen).size, 120);
});

test('concurrent changes of one record make a chain: each begins where the one before ended', async () => {
  const company = await app.company();
  const id = await call(company, 'start');
  const one = `${company.path}/interactions/${id}`;
  await Promise.all(Array.from({ length: 20 }, (_, i) => company.patch(one, { type: 'phone', notes: `n${i}` })));
  const history = await read(company, `${one}/history`);
  assert.equal(history.length, 21);
  for (const [i, { before }] of history.entries()) if (i > 0) assert.deepEqual(before, history[i - 1]?.after);
  const written = history.slice(1).map(({ after }) => (after as { notes: string }).notes);
  assert.equal(new Set(written).size, 20);
});

test('the events of a case are those of the case alone', async () => {
  const company = await app.company();
  const other = await company.openCase();
  const [here, there] = [await call(company), await call(company, 'elsewhere', `/cases/${other}`)];
  const ofCase = async (id: string) =>
    (await read(company, `/cases/${id}/events?types=interaction.*`)).map(({ record }) => record.id);
  assert.deepEqual(await ofCase(company.caseId), [here]);
  assert.deepEqual(await ofCase(other), [there]);
});

test('a case or a record of another company, or of another case, is unknown', async () => {
  const [company, stranger] = [await app.company(), await app.company()];
  const other = await company.openCase();
  const id = await call(company);
  for (const [who, path] of [
    [stranger, `${company.path}/events`],
    [stranger, `${company.path}/interactions/${id}/history`],
    [company, `/cases/${other}/interactions/${id}/history`],
    [company, `${company.path}/interactions/${other}/history`],
  ] as const) {
    assert.equal((await who.get(path)).status, 404, path);
  }
  const seen = await read(stranger, '/events?limit=500');
  assert.ok(!JSON.stringify(seen).includes(company.caseId));
});

test('an id tells nothing about other companies, and is none to them', async () => {
  const [company, stranger] = [await app.company(), await app.company()];
  await call(company);
  await call(company);
  const [first = '', second = ''] = (await calls(company)).map(({ id }) => id);
  assert.match(first, /^evt_[A-Za-z0-9_-]{22}$/);
  assert.notEqual(first.slice(0, 12), second.slice(0, 12));
  const answer = await stranger.get(`/events?after=${first}`);
  assert.equal(answer.status, 400);
  assert.deepEqual(
    answer.body.errors.map(({ field, code }: Record<string, string>) => [field, code]),
    [['after', 'unknown']],
  );
});

for (const [query, field] of [
  ['after=evt_short', 'after'],
  ['after=5', 'after'],
  [`after=evt_${'A'.repeat(22)}`, 'after'],
  ['limit=0', 'limit'],
  ['limit=501', 'limit'],
  ['types=invoice.eaten', 'types'],
  ['types=', 'types'],
] as const) {
  test(`?${query} is refused with its field`, async () => {
    const company = await app.company();
    const answer = await company.get(`/events?${query}`);
    assert.equal(answer.status, 400, answer.text);
    assert.deepEqual(
      answer.body.errors.map((fault: { field: string }) => fault.field),
      [field],
    );
  });
}

test('an unknown case comes before a fault of the query', async () => {
  const company = await app.company();
  const answer = await company.get(`/cases/${company.companyId}/events?limit=0`);
  assert.equal(answer.status, 404);
});

test('the log of the company needs its own scope, the history of a record the scope of the record', async () => {
  const company = await app.company();
  const id = await call(company);
  const reader = await company.withScopes('interactions:read');
  assert.equal((await reader.get('/events')).status, 403);
  assert.equal((await reader.get(`${company.path}/events`)).status, 403);
  assert.equal((await reader.get(`${company.path}/interactions/${id}/history`)).status, 200);
  const follower = await company.withScopes('events:read');
  assert.equal((await follower.get('/events')).status, 200);
  assert.equal((await follower.get(`${company.path}/interactions/${id}/history`)).status, 403);
});

test('a refused write leaves no event', async () => {
  const company = await app.company();
  const id = await call(company);
  const one = `${company.path}/interactions/${id}`;
  await company.patch(one, { type: 'pigeon' });
  await company.post(`${company.path}/interactions`, { notes: 'no type' });
  await company.post(`${one}/restore`);
  const stale = await company.patch(one, { type: 'phone' }, { 'if-match': '"AAAAAAAAAAAAAAAAAAAAAA"' });
  assert.equal(stale.status, 412);
  assert.equal((await calls(company)).length, 1);
});

test('a repeated request with the same Idempotency-Key leaves one event', async () => {
  const company = await app.company();
  const send = () =>
    company.post(`${company.path}/interactions`, { type: 'phone', notes: '' }, { 'idempotency-key': 'once' });
  await send();
  assert.equal((await send()).headers['idempotency-replayed'], 'true');
  assert.equal((await calls(company)).length, 1);
});

const CHANGES = [
  `UPDATE events SET type = 'nothing.happened'`,
  'DELETE FROM events',
  'TRUNCATE events',
  'DROP TABLE events',
  'ALTER TABLE events DISABLE TRIGGER ALL',
  `SELECT setval('event_positions', 1)`,
  'INSERT INTO event_retention (days) VALUES (30)',
  `UPDATE migrations SET name = 'another'`,
];

for (const change of CHANGES) {
  test(`the service's own role is refused: ${change}`, async () => {
    const company = await app.company();
    await call(company);
    await assert.rejects(app.db.pool.query(change), { code: '42501', message: /^(permission denied|must be owner)/ });
    assert.equal((await calls(company)).length, 1);
  });
}

for (const change of CHANGES.slice(0, 3)) {
  test(`even if it owns the log, a plain change is refused: ${change}`, async () => {
    const company = await app.company();
    await call(company);
    await assert.rejects(app.sql(change), { code: '42501' });
  });
}

test('by default nothing is ever forgotten', async () => {
  const company = await app.company();
  app.clock.set('2001-01-01T00:00:00Z');
  await call(company);
  assert.equal(await purgeOldEvents(app.db), 0);
  assert.equal((await calls(company)).length, 1);
});

test('what is older than EVENT_RETENTION_DAYS is forgotten, and nothing else', async () => {
  const company = await app.company();
  const now = Temporal.Now.instant();
  for (const days of [62, 61, 59, 0]) {
    app.clock.set(now.subtract({ hours: days * 24 }).toString());
    await call(company, String(days));
  }
  const setup = { owner: app.connection, roleToCreate: SERVICE_ROLE };
  const migrations = await readMigrations();
  await setUpDatabase({ ...setup, retentionDays: 60 }, migrations);
  const before = await calls(company);
  await purgeOldEvents(app.db);
  const kept = await calls(company);
  assert.deepEqual(
    kept.map(({ after }) => (after as { notes: string }).notes),
    ['59', '0'],
  );
  assert.deepEqual(kept, before.slice(2), 'what is kept stays as it was');
  await assert.rejects(app.sql('DELETE FROM events'), { code: '42501' });
  await setUpDatabase(setup, migrations);
  assert.equal(await purgeOldEvents(app.db), 0);
});

test('the service cannot have the log forgotten with a retention of its own', async () => {
  const company = await app.company();
  await call(company);
  const client = await app.db.pool.connect();
  try {
    await client.query('CREATE TEMP TABLE event_retention (days integer)');
    await client.query('INSERT INTO event_retention VALUES (-1000)');
    await client.query('GRANT SELECT ON event_retention TO PUBLIC');
    const { rows } = await client.query('SELECT forget_events(1000000)::int AS forgotten');
    assert.equal(rows[0].forgotten, 0);
  } finally {
    client.release(true);
  }
  assert.equal((await calls(company)).length, 1);
});

test('an event is kept as long as an earlier one of its record, even if two clocks disagreed', async () => {
  const company = await app.company();
  const now = Temporal.Now.instant();
  app.clock.set(now.subtract({ hours: 59 * 24 }).toString());
  const one = `${company.path}/interactions/${await call(company, '0')}`;
  app.clock.set(now.subtract({ hours: 61 * 24 }).toString());
  await company.patch(one, { type: 'phone', notes: '1' });
  app.clock.set(now.toString());
  await company.patch(one, { type: 'phone', notes: '2' });
  const before = await read(company, `${one}/history`);
  const setup = { owner: app.connection, roleToCreate: SERVICE_ROLE };
  await setUpDatabase({ ...setup, retentionDays: 60 }, await readMigrations());
  await purgeOldEvents(app.db);
  assert.deepEqual(await read(company, `${one}/history`), before);
  await setUpDatabase(setup, await readMigrations());
});

test('every table is granted to the service, or is not there for it', async () => {
  const rows = await app.sql<{ name: string }>(
    `SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')
        AND NOT relispartition`,
  );
  const granted = GRANTS.map(({ on }) => on).filter((on) => !/^(SEQUENCE|FUNCTION) /.test(on));
  assert.deepEqual(rows.map(({ name }) => name).sort(), granted.sort());
});

test('rights that the role had before are taken from it', async () => {
  await app.sql(`GRANT ALL ON events, event_retention, migrations TO ${SERVICE_ROLE}`);
  await setUpDatabase({ owner: app.connection, roleToCreate: SERVICE_ROLE }, await readMigrations());
  const rows = await app.sql(
    `SELECT privilege_type AS right, table_name AS name FROM information_schema.role_table_grants
      WHERE grantee = $1 AND table_name IN ('events', 'event_retention', 'migrations') ORDER BY 1, 2`,
    [SERVICE_ROLE],
  );
  assert.deepEqual(
    rows.map(({ right, name }) => `${right} ${name}`),
    ['INSERT events', 'SELECT event_retention', 'SELECT events', 'SELECT migrations'],
  );
});

test('if the owner is also the role of the service, it keeps its rights', async () => {
  const { owner } = { owner: app.connection };
  await setUpDatabase({ owner, service: owner }, await readMigrations());
  await setUpDatabase({ owner, service: owner, retentionDays: 90 }, await readMigrations());
  assert.deepEqual(await app.sql('SELECT days FROM event_retention'), [{ days: 90 }]);
  await setUpDatabase({ owner, roleToCreate: SERVICE_ROLE }, await readMigrations());
});

test('an id from beyond the end of the log is refused: it is of a log that was lost', async () => {
  const company = await app.company();
  await call(company);
  const [{ key } = { key: Buffer.alloc(0) }] = await app.sql<{ key: Buffer }>(
    'SELECT event_key AS key FROM companies WHERE id = $1',
    [company.companyId],
  );
  for (const path of ['/events', `${company.path}/events`]) {
    const answer = await company.get(`${path}?after=${eventId(key, 10n ** 12n)}`);
    assert.equal(answer.status, 400, answer.text);
    assert.deepEqual(
      answer.body.errors.map(({ field }: { field: string }) => field),
      ['after'],
    );
  }
});

test('types that are rare are found however much lies before them, some pages of nothing later', async () => {
  const company = await app.company();
  const latest = await company.get('/events?after=latest');
  await app.sql(
    `INSERT INTO events (company_id, case_id, record_id, type, at, origin)
     SELECT $1, $2, gen_random_uuid(), 'interaction.updated', now(), '{"actor": {"type": "worker"}}'
       FROM generate_series(1, 20500)`,
    [company.companyId, company.caseId],
  );
  const id = await call(company);
  let path = `${nextOf(latest)}&types=interaction.created`;
  const pages: string[][] = [];
  for (; pages.length < 3; ) {
    const answer = await company.get(path);
    pages.push((answer.body as Event[]).map(({ record }) => record.id));
    path = nextOf(answer);
  }
  assert.deepEqual(pages, [[], [], [id]]);
});

test('the very first position lies beyond what was settled before it', async () => {
  const client = new pg.Client(app.connection);
  await client.connect();
  try {
    await client.query('BEGIN; ALTER SEQUENCE event_positions RESTART');
    const { rows } = await client.query('SELECT settled_events()::int AS settled');
    const { rows: given } = await client.query(`SELECT nextval('event_positions')::int AS position`);
    assert.ok(rows[0].settled < given[0].position);
  } finally {
    await client.end();
  }
});
