import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import pg from 'pg';
import { pino } from 'pino';
import { beginBuilding, followEvents } from '../src/cases/invoices/sums/keeping.sql.ts';
import { keepInvoiceSums } from '../src/cases/invoices/sums/keeping.ts';
import { sumFromKept, sumOpenInvoices } from '../src/cases/invoices/sums/statements.sql.ts';
import type { Query } from '../src/kernel/sql/statement.ts';
import type { TestCompany } from './harness/app.ts';
import { ok } from './harness/assert.ts';
import { app, invoice, pay, type Row, twoCompanies } from './harness/company-lists.ts';
import { untilBlocked } from './harness/overlap.ts';

/** The kept sums of open invoices are those of the invoices themselves, at any moment. */

beforeEach(() => app.clock.set('2026-06-01T09:00:00Z'));

const silent = pino({ level: 'silent' });
/** Does what a worker does every few seconds. */
const keep = (logger = silent, failures = new Map()) =>
  keepInvoiceSums({ db: app.db, clock: app.clock.read, logger, failures });

const due = (time: string) => ({ date_due: time.length > 10 ? time : `${time} 12:00:00` });

/** What the sums say, and which statements they come from. */
async function sums(company: Pick<TestCompany, 'get'>, query = '') {
  const statements: string[] = [];
  const { onStatement } = app.db;
  app.db.onStatement = (name, seconds) => {
    onStatement(name, seconds);
    if (name.startsWith('invoices.')) statements.push(name);
  };
  try {
    const { open, overdue } = await ok(company.get(`/invoices/sums?${query}`));
    return { open, overdue, isKept: !statements.includes('invoices.sums_of_company') };
  } finally {
    app.db.onStatement = onStatement;
  }
}

/** The same, added up from the list. */
async function listed(company: TestCompany, query = '') {
  const rows: Row[] = await ok(company.get(`/invoices?open=true&limit=200&${query}`));
  const of = (some: Row[]) => ({
    count: some.length,
    outstanding: some.reduce((cents, { outstanding }) => cents + Math.round(outstanding * 100), 0) / 100,
  });
  return { open: of(rows), overdue: of(rows.filter(({ overdue }) => overdue)) };
}

async function assertExact(company: TestCompany, { query = '', isKept = true } = {}) {
  assert.deepEqual(await sums(company, query), { ...(await listed(company, query)), isKept }, query);
}

const keptRows = (company: TestCompany) =>
  app.sql(
    `SELECT unit, start::text, status, count, outstanding::text FROM invoice_sums
      WHERE company_id = $1 AND count <> 0 ORDER BY unit, start, status`,
    [company.companyId],
  );
const forget = (company: TestCompany) =>
  app.sql('DELETE FROM invoice_sums_progress WHERE company_id = $1', [company.companyId]);

/** The kept sums are those that a worker builds from the invoices. */
async function assertAsBuilt(company: TestCompany) {
  await keep();
  const followed = await keptRows(company);
  await forget(company);
  await keep();
  assert.deepEqual(followed, await keptRows(company));
}

test('without kept sums the invoices are read, and with them they are not', async () => {
  const { company, second, stranger } = await twoCompanies();
  await invoice(company, company.path, due('2026-05-30'));
  await invoice(company, second, due('2026-06-30'));
  await invoice(stranger, stranger.path, due('2026-05-30'));
  await assertExact(company, { isKept: false });
  await keep();
  await assertExact(company);
  assert.deepEqual(await sums(company), {
    open: { count: 2, outstanding: 240 },
    overdue: { count: 1, outstanding: 120 },
    isKept: true,
  });
  assert.deepEqual((await sums(stranger)).open, { count: 1, outstanding: 120 });
  const empty = await app.company();
  await keep();
  const nothing = { count: 0, outstanding: 0 };
  assert.deepEqual(await sums(empty), { open: nothing, overdue: nothing, isKept: true });
});

test('every change is counted immediately, before the worker has seen it and after', async () => {
  const company = await app.company();
  const path = `${company.path}/invoices`;
  const paid = (await invoice(company, company.path, due('2026-05-30'))).id;
  const cancelled = (await invoice(company, company.path, due('2026-05-30'))).id;
  await keep();
  const item = { description: 'Will', quantity: 1, rate: 100, amount: 120 };
  let payment = '';
  let added = '';
  const body = async (id: string) => {
    const { invoice_number, sender_id, vat } = await ok(company.get(`${path}/${id}`));
    return { invoice_number, sender_id, vat, date_created: '2026-05-01 10:00', sub_total: 100, total: 120 };
  };
  const byExternalId = (fields: object) =>
    company.send('PUT', `${path}/by-external-id/A-1`, {
      ...{ invoice_number: 'A-1', sender_id: company.companyId, date_created: '2026-05-01 10:00', vat: 20, ...fields },
    });
  const changes: Record<string, () => Promise<unknown>> = {
    'a part is paid': async () => {
      payment = (await pay(company, company.path, paid, '20.10')).id;
    },
    'another payment': () => pay(company, company.path, paid, '99.90'),
    'a payment is reversed': () => ok(company.post(`${path}/${paid}/payments/${payment}/reverse`)),
    'an invoice is written': async () => {
      added = (await invoice(company, company.path, { ...due('2026-06-10'), items: [item, item] })).id;
    },
    'it is due in another month': async () =>
      ok(company.patch(`${path}/${added}`, { ...(await body(added)), ...due('2026-04-30 23:59') })),
    'its total changes': async () =>
      ok(company.patch(`${path}/${added}`, { ...(await body(added)), ...due('2026-04-30 23:59'), total: 99.5 })),
    'an item is cancelled': async () => {
      const [{ id }] = (await ok(company.get(`${path}/${added}`))).items;
      await ok(company.post(`${path}/${added}/items/${id}/cancel`));
    },
    'it is sent': () => ok(company.post(`${path}/${added}/sent`)),
    'an invoice is cancelled': () => ok(company.post(`${path}/${cancelled}/cancel`)),
    'it is reinstated': () => ok(company.post(`${path}/${cancelled}/reinstate`)),
    'an invoice is written by its external id': async () => {
      assert.equal((await byExternalId({ sub_total: 100, total: 120, ...due('2026-05-01') })).status, 201);
    },
    'and changed by it': () => ok(byExternalId({ sub_total: 200, total: 240, ...due('2026-07-01') })),
  };
  for (const [name, change] of Object.entries(changes)) {
    const before = JSON.stringify(await sums(company));
    await change();
    await assertExact(company);
    if (!/item|sent/.test(name)) assert.notEqual(JSON.stringify(await sums(company)), before, name);
  }
  await assertAsBuilt(company);
  for (const change of Object.values(changes).slice(-4, -2)) {
    await change();
    await keep();
    await assertExact(company);
  }
  await assertAsBuilt(company);
});

test('bounds within days, months and time zones leave exactly what the list leaves', async () => {
  for (const timeZone of ['Europe/London', 'Pacific/Auckland', 'America/New_York', 'Asia/Kathmandu']) {
    const company = await app.company({ timeZone });
    const times = ['2026-04-30', '2026-05-31', '2026-06-01', '2026-06-02', '2026-07-01'].flatMap((day) =>
      ['00:00:00', '03:59:59', '11:59:59', '12:00:00', '20:15:00', '23:59:59'].map((time) => `${day}T${time}Z`),
    );
    for (const time of times)
      await invoice(company, company.path, { date_due: time, total: '0.10', sub_total: '0.10' });
    app.clock.set('2026-06-01T03:30:00Z');
    await keep();
    // This one the sums do not count yet.
    await invoice(company, company.path, { date_due: '2026-06-01T12:00:00Z' });
    for (const now of [
      '2026-06-01T03:59:59Z',
      '2026-06-01T12:00:00Z',
      '2026-06-02T04:00:00Z',
      '2026-06-03T00:00:00Z',
    ]) {
      app.clock.set(now);
      await assertExact(company);
      for (const query of ['overdue=true', 'status=Part%20Paid', 'status=Not%20Paid&overdue=true'])
        await assertExact(company, { query });
    }
    for (const from of [undefined, '2026-05-01T00:00:00Z', '2026-05-31T11:59:59Z', '2026-06-01T12:00:00Z']) {
      for (const to of [undefined, '2026-05-31T12:00:00Z', '2026-06-01T12:00:00.5Z', '2026-06-02T00:00:00Z']) {
        await assertExact(company, {
          query: [from && `due_from=${from}`, to && `due_to=${to}`].filter(Boolean).join('&'),
        });
      }
    }
    app.clock.set('2026-06-01T09:00:00Z');
  }
});

test('another time zone of the company moves the start of its day, and nothing else', async () => {
  const company = await app.company();
  for (const time of ['2026-05-31T10:00:00Z', '2026-05-31T18:00:00Z', '2026-06-01T01:00:00Z'])
    await invoice(company, company.path, { date_due: time });
  await keep();
  const overdue = new Set<number>();
  for (const time_zone of ['Pacific/Auckland', 'America/New_York', 'Europe/London']) {
    await ok(company.patch('/manage/company', { time_zone }));
    // The process has known the company for at most 2 seconds.
    app.clock.advance({ seconds: 3 });
    await assertExact(company);
    overdue.add((await sums(company)).overdue.count);
  }
  // Today began at noon and an hour before midnight of the day before, and at four, all in UTC.
  assert.deepEqual([...overdue].sort(), [1, 2, 3]);
});

/** Adds events that change no record. */
const addEvents = (company: TestCompany, count: number) =>
  app.sql(
    `INSERT INTO events (company_id, case_id, record_id, type, at, origin, before)
     SELECT e.company_id, e.case_id, e.record_id, 'interaction.updated', e.at, e.origin, '{}'
       FROM (SELECT * FROM events WHERE company_id = $1 LIMIT 1) e, generate_series(1, $2::int)`,
    [company.companyId, count],
  );
const positionOf = async (company: TestCompany) =>
  (await app.sql('SELECT position FROM invoice_sums_progress WHERE company_id = $1', [company.companyId]))[0]?.position;

test('sums that are more than 1,000 events behind are not used, and are then built anew', async () => {
  const company = await app.company();
  const { id } = await invoice(company, company.path, due('2026-05-30'));
  await keep();
  await pay(company, company.path, id, 20);
  await addEvents(company, 999);
  await assertExact(company);
  await addEvents(company, 1);
  await assertExact(company, { isKept: false });
  // A row that the events do not explain shows whether the sums are built or follow the events.
  await app.sql(`UPDATE invoice_sums SET outstanding = outstanding + 1 WHERE company_id = $1`, [company.companyId]);
  await keep();
  await assertExact(company);
});

test('changes without events are in the sums within a day, and old sums are not used', async () => {
  const company = await app.company();
  const { id } = await invoice(company, company.path, due('2026-05-30'));
  await keep();
  await app.sql('UPDATE invoices SET paid = 20 WHERE id = $1', [id]);
  app.clock.advance({ hours: 18 });
  await keep();
  assert.equal((await sums(company)).open.outstanding, 120);
  app.clock.advance({ hours: 6 });
  await keep();
  await assertExact(company);
  await app.sql('UPDATE invoices SET paid = 40 WHERE id = $1', [id]);
  app.clock.advance({ hours: 48, seconds: 1 });
  await assertExact(company, { isKept: false });
});

test('sums of the future are neither used nor kept: the clock was wrong', async () => {
  const company = await app.company();
  await invoice(company, company.path, due('2026-05-30'));
  await keep();
  await app.sql(
    `UPDATE invoice_sums_progress SET built_at = $2::timestamptz + interval '2 hours' WHERE company_id = $1`,
    [company.companyId, app.clock.read().toString()],
  );
  await assertExact(company, { isKept: false });
  await keep();
  await assertExact(company);
});

test('snapshots that are large together are not read for the sums, which are then built anew', async () => {
  const company = await app.company();
  const { id } = await invoice(company, company.path, due('2026-05-30'));
  await keep();
  await app.sql(
    `INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
     SELECT e.company_id, e.case_id, e.record_id, 'invoice.updated', e.at, e.origin,
            json_build_object('invoices', to_json(v), 'invoice_items', (SELECT json_agg(md5(random()::text)) FROM generate_series(1, $2::int)))
       FROM events e JOIN invoices v ON v.id = e.record_id WHERE e.record_id = $1 LIMIT 1`,
    [id, 100_000],
  );
  await assertExact(company, { isKept: false });
  await keep();
  await assertExact(company);
  await assertAsBuilt(company);
});

test('a position that the log has not issued is not taken over: it was read before a crash', async () => {
  const company = await app.company();
  await invoice(company, company.path, due('2026-05-30'));
  await keep();
  const position = await positionOf(company);
  const ahead = { company_id: company.companyId, position, watermark: String(2n ** 61n) };
  await app.db.queryRows(followEvents(ahead));
  assert.deepEqual(await app.db.queryRows(beginBuilding({ ...ahead, now: '2026-06-01' })), []);
  assert.equal(await positionOf(company), position);
});

test('a metric counts the companies without sums that can be used', async () => {
  const value = async () =>
    Number(/^invoice_sums_companies_to_build (\d+)$/m.exec((await app.anonymous.get('/metrics')).text)?.[1]);
  const company = await app.company();
  await forget(company);
  assert.ok((await value()) >= 1);
  await keep();
  assert.equal(await value(), 0);
});

test('sums that are being built are used from the moment when they are complete', async () => {
  const company = await app.company();
  const { id } = await invoice(company, company.path, due('2026-05-30'));
  await forget(company);
  // The worker waits for the sums of this company while others read, write and keep them.
  const holder = new pg.Client(app.connection);
  await holder.connect();
  try {
    await holder.query('BEGIN');
    await holder.query(`INSERT INTO invoice_sums VALUES ($1, 'day', '2026-05-30', 'Not Paid', 0, 0)`, [
      company.companyId,
    ]);
    const kept = keep();
    await untilBlocked(app);
    await pay(company, company.path, id, 20);
    await assertExact(company, { isKept: false });
    await holder.query('ROLLBACK');
    await kept;
  } finally {
    await holder.end();
  }
  await assertExact(company);
  await assertAsBuilt(company);
});

test('a worker that is late changes nothing that another one has counted', async () => {
  const company = await app.company();
  const { id } = await invoice(company, company.path, due('2026-05-30'));
  await keep();
  for (let n = 1; n <= 5; n++) {
    await pay(company, company.path, id, 10);
    await invoice(company, company.path, due(`2026-06-0${n}`));
    await Promise.all([keep(), keep(), keep(), keep()]);
    await assertExact(company);
  }
  await assertAsBuilt(company);
});

test('a company whose sums fail holds up no other', async () => {
  const [failing, other] = [await app.company(), await app.company()];
  for (const company of [failing, other]) await invoice(company, company.path, due('2026-05-30'));
  await keep();
  for (const company of [failing, other]) await invoice(company, company.path, due('2026-05-30'));
  await app.sql(`CREATE FUNCTION refuse_sums() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN IF new.company_id::text = TG_ARGV[0] THEN RAISE EXCEPTION 'no sums'; END IF; RETURN new; END $$`);
  await app.sql(`CREATE TRIGGER refuse_sums BEFORE INSERT ON invoice_sums
    FOR EACH ROW EXECUTE FUNCTION refuse_sums('${failing.companyId}')`);
  const lines: { company: string }[] = [];
  const before = [await positionOf(failing), await positionOf(other)];
  const logger = pino({ base: null }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const failures = new Map();
  try {
    await keep(logger, failures);
    // It waits before it is tried again.
    await keep(logger, failures);
  } finally {
    await app.sql('DROP TRIGGER refuse_sums ON invoice_sums');
    await app.sql('DROP FUNCTION refuse_sums');
  }
  assert.deepEqual(
    lines.map(({ company }) => company),
    [failing.companyId],
  );
  assert.equal(await positionOf(failing), before[0]);
  assert.notEqual(await positionOf(other), before[1]);
  app.clock.advance({ seconds: 10 });
  await keep(logger, failures);
  assert.notEqual(await positionOf(failing), before[0]);
  for (const company of [failing, other]) await assertExact(company);
});

test('a company that is being removed or imported has no sums kept', async () => {
  const company = await app.company();
  await invoice(company, company.path, due('2026-05-30'));
  await app.sql(`UPDATE companies SET removal_started_at = 'infinity' WHERE id = $1`, [company.companyId]);
  await keep();
  assert.deepEqual([await keptRows(company), await positionOf(company)], [[], undefined]);
  await app.sql('UPDATE companies SET removal_started_at = NULL WHERE id = $1', [company.companyId]);
  await keep();
  await assertExact(company);
});

/** The kept sums and those of the invoices, in one snapshot. */
async function bothSums(client: pg.Client, company: TestCompany, range: readonly [string, string]) {
  const inputs = {
    company_id: company.companyId,
    statuses: ['Not Paid', 'Part Paid'],
    due_from: range[0],
    due_to: range[1],
    today: '2026-06-01T00:00:00+12:00',
  };
  const rows = async ({ statement, values }: Query) => (await client.query(statement.text, values)).rows;
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
  const kept = await rows(sumFromKept({ ...inputs, now: '2026-06-01T09:00:00Z' }));
  const direct = await rows(sumOpenInvoices(inputs));
  await client.query('COMMIT');
  const comparable = (some: Row[]) =>
    some
      .filter(({ overdue, count }) => overdue !== null && count > 0)
      .map(({ overdue, count, outstanding }) => `${overdue} ${count} ${Number(outstanding).toFixed(2)}`)
      .sort();
  return { isKept: kept[0]?.is_kept, kept: comparable(kept), direct: comparable(direct) };
}

/** Numbers from 0 up to a bound, the same ones for the same seed. */
function seeded(seed: number): (bound: number) => number {
  let state = seed;
  return (bound) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * bound);
  };
}

test('while callers write and workers count, the kept sums are those of the invoices in every snapshot', async () => {
  const company = await app.company({ timeZone: 'Pacific/Auckland' });
  const path = `${company.path}/invoices`;
  const ids: string[] = [];
  for (let n = 0; n < 20; n++) ids.push((await invoice(company, company.path, due(`2026-05-${10 + n}`))).id);
  await keep();
  let isWriting = true;
  const write = async (seed: number) => {
    const draw = seeded(seed);
    const dueAt = () => `2026-0${4 + draw(4)}-${10 + draw(20)}T${10 + draw(14)}:${10 + draw(50)}:00Z`;
    for (let n = 0; n < 60; n++) {
      const id = ids[draw(ids.length)] ?? '';
      const payments = `${path}/${id}/payments`;
      // Refusals, such as of a payment that exceeds the total, belong to it.
      const changes: (() => Promise<unknown>)[] = [
        () => invoice(company, company.path, { date_due: dueAt() }).then((one) => ids.push(one.id)),
        () => company.post(payments, { amount: 1 + draw(60) }),
        async () => {
          const all: Row[] = (await company.get(payments)).body;
          const one = all[draw(all.length)];
          if (one) await company.post(`${payments}/${one.id}/reverse`);
        },
        () => company.post(`${path}/${id}/${draw(2) === 0 ? 'cancel' : 'reinstate'}`),
        async () => {
          const { invoice_number, sender_id, vat } = (await company.get(`${path}/${id}`)).body;
          const fields = { date_created: '2026-05-01 10:00', date_due: dueAt(), sub_total: 10, total: 10 + draw(500) };
          await company.patch(`${path}/${id}`, { invoice_number, sender_id, vat, ...fields });
        },
      ];
      await changes[draw(changes.length)]?.();
    }
  };
  const keepAll = async () => {
    while (isWriting) await keep();
  };
  let compared = 0;
  const compare = async () => {
    const client = new pg.Client(app.connection);
    await client.connect();
    try {
      while (isWriting) {
        for (const range of [
          ['-infinity', 'infinity'],
          ['2026-05-12T11:30:00Z', '2026-07-01T00:00:00Z'],
        ] as const) {
          const { isKept, kept, direct } = await bothSums(client, company, range);
          assert.equal(isKept, true);
          assert.deepEqual(kept, direct);
          compared++;
        }
      }
    } finally {
      await client.end();
    }
  };
  const others = [keepAll(), keepAll(), compare(), compare()];
  try {
    await Promise.all([1, 2, 3, 4].map(write));
  } finally {
    isWriting = false;
    await Promise.allSettled(others);
  }
  await Promise.all(others);
  assert.ok(compared > 50, String(compared));
  await assertExact(company);
  await assertAsBuilt(company);
  await assertExact(company);
});
