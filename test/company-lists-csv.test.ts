import assert from 'node:assert/strict';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { test } from 'node:test';
import type { TestCompany } from './harness/app.ts';
import { assertProblem, assertRefused, ok } from './harness/assert.ts';
import { FILL_INTERACTIONS } from './harness/bodies.ts';
import {
  app,
  appointment,
  csv,
  invoice,
  parseCsv,
  pay,
  person,
  phoneCall,
  twoCompanies,
  walk,
} from './harness/company-lists.ts';
import { until } from './harness/until.ts';

/** The lists of a whole company as CSV. */

/** An export whose body is not read yet. */
async function unread(company: TestCompany, path: string): Promise<IncomingMessage> {
  const request = get(new URL(path, app.baseUrl), {
    headers: { authorization: `Bearer ${company.token}` },
    agent: false,
  });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return response;
}

test('interactions as CSV: every field exactly, with the case, UTC and the time zone', async () => {
  const company = await app.company({ timeZone: 'America/New_York' });
  const notes = 'She said "yes",\r\nthen\nleft; été 😀';
  const { id } = await phoneCall(company, company.path, {
    when: '2026-05-01 10:30:00',
    notes,
    sender: 'A, B',
    recipient: '',
  });
  const [row] = await csv(company, '/interactions.csv');
  const { created_at, updated_at, ...rest } = row ?? {};
  assert.match(`${created_at} ${updated_at}`, /^2026\S+Z 2026\S+Z$/);
  assert.deepEqual(rest, {
    ...{ id, customer_case_id: company.caseId, reference: 'Smith', type: 'phone', external_id: '' },
    ...{ when: '2026-05-01 10:30:00', when_utc: '2026-05-01T14:30:00.000000Z', time_zone: 'America/New_York' },
    ...{ sender: 'A, B', recipient: '', notes },
  });
});

test('invoices as CSV: amounts have their decimals, also the largest ones', async () => {
  const { company, second } = await twoCompanies();
  const amounts = { total: '9999999999.99', sub_total: '9999999999.90' };
  const { id } = await invoice(company, second, { ...amounts, date_due: '2026-05-02 10:00:00' });
  await pay(company, second, id, '0.10');
  await invoice(company, company.path, { total: '-5.00', sub_total: '-5.00', date_due: '2026-05-01 10:00:00' });
  const rows = await csv(company, '/invoices.csv');
  assert.deepEqual(
    rows.map(({ total, paid, outstanding, status, overdue }) => [total, paid, outstanding, status, overdue]),
    [
      ['9999999999.99', '0.10', '9999999999.89', 'Part Paid', 'true'],
      ['-5.00', '0.00', '0.00', 'Not Paid', 'false'],
    ],
  );
});

test('appointments and entries as CSV', async () => {
  const { company } = await twoCompanies();
  await appointment(company, company.path, { location: 'Here' });
  await person(company, company.path, {
    tags: ['executor', 'doctor'],
    address: { postcode: 'AB1 2CD' },
    dob: '31/01/1970',
  });
  const [booked] = await csv(company, '/appointments.csv');
  assert.deepEqual(
    [booked?.start_time, booked?.end_time, booked?.end_time_utc, booked?.outcome, booked?.location],
    ['2026-06-10T09:00:00.000000Z', '2026-06-10 11:00:00', '2026-06-10T10:00:00.000000Z', 'none', 'Here'],
  );
  const [entry] = await csv(company, '/address-book.csv');
  assert.deepEqual(
    [entry?.last_name, entry?.tags, entry?.postcode, entry?.dob, entry?.email, entry?.customer_case_id],
    ['Doe', 'executor doctor', 'AB1 2CD', '31/01/1970', '', company.caseId],
  );
});

test('a text that a spreadsheet would take for a formula begins with an apostrophe', async () => {
  const { company } = await twoCompanies();
  for (const notes of ['=1+1', '+44', '-1', '@SUM(A1)', '\t=1', '\r=1', '\n=1', '＝1', '＋1', '－1', '＠1', '=1,"2"']) {
    await phoneCall(company, company.path, { notes });
  }
  for (const { notes } of await csv(company, '/interactions.csv')) assert.match(notes ?? '', /^'[=+\-@\t\r\n＝＋－＠]/);
  await phoneCall(company, company.path, { notes: "it's 1-2=3", sender: '=cmd' });
  const rows = await csv(company, '/interactions.csv');
  assert.deepEqual([rows[0]?.notes, rows[0]?.sender], ["it's 1-2=3", "'=cmd"]);
});

test('so does what a spreadsheet with another separator would take for a cell', async () => {
  const { company } = await twoCompanies();
  for (const [notes, written] of [
    ["Doe;=cmd|' /C calc'!A0;", "Doe;'=cmd|' /C calc'!A0;"],
    ['a;+1;-1;@x', "a;'+1;'-1;'@x"],
    ['a, -1,\t=2', "a, '-1,\t'=2"],
    ['a\n=1\r\n+2\r-3', "a\n'=1\r\n'+2\r'-3"],
    ['a; "=1";""+2', `a; "'=1";""'+2`],
    ['a;\u00a0\u3000＝1', "a;\u00a0\u3000'＝1"],
    ['=1;=2', "'=1;'=2"],
    ['a;b - c;d=e, f+g', 'a;b - c;d=e, f+g'],
    [';;', ';;'],
  ] as const) {
    const { id } = await phoneCall(company, company.path, { notes });
    const { text } = await company.get('/interactions.csv');
    const row = parseCsv(text).find((one) => one.id === id);
    assert.equal(row?.notes, written);
    // A separator stands within quotes, for programs that guess which one it is.
    assert.ok(text.includes(`"${written.replaceAll('"', '""')}"`) || !/[;,\t\r\n]/.test(written), notes);
  }
});

for (const list of ['interactions', 'invoices', 'appointments', 'address-book']) {
  test(`${list} as CSV: an empty list has its header, and faulty filters are refused`, async () => {
    const { company } = await twoCompanies();
    const { text } = await company.get(`/${list}.csv`);
    assert.match(text, /^id,customer_case_id,reference,[\w,]+,time_zone\r\n$/);
    assertRefused(await company.get(`/${list}.csv?sort=id&external_id=a%00b`), {
      sort: 'not_allowed',
      external_id: 'invalid_character',
    });
    const head = await company.send('HEAD', `/${list}.csv`);
    assert.deepEqual([head.status, head.text], [200, '']);
  });
}

test('a CSV has the whole list, with the same filters and the same sort, and no record of another company', async () => {
  const { company, stranger } = await twoCompanies();
  for (const { companyId, caseId } of [company, stranger]) await app.sql(FILL_INTERACTIONS, [companyId, caseId, 1_300]);
  for (const query of ['', 'sort=when', 'type=letter', 'type=letter&from=2020-01-01%2010:00&to=2020-01-01%2020:00']) {
    const listed = await walk(company, `/interactions?limit=200&${query}`);
    const written = await csv(company, `/interactions.csv?${query}`);
    assert.deepEqual(
      written.map(({ id }) => id),
      listed.map(({ id }) => id),
      query,
    );
    assert.ok(written.length > 0);
  }
});

/** Enough text that the connection holds only a part of it. */
const FILL_LONG = `
  INSERT INTO interactions (company_id, case_id, id, type, notes, recipient, happened_at, created_at, updated_at)
  SELECT $1, $2, gen_random_uuid(), 'phone', repeat('x', 20000), '', timestamptz '2021-01-01' + n * interval '1 minute',
         now(), now() FROM generate_series(1, 2000) n`;

test('a fault in the middle breaks the connection, so that a part does not look like the whole', async () => {
  const { company, second } = await twoCompanies();
  await app.sql(FILL_LONG, [company.companyId, company.caseId]);
  const { id } = await phoneCall(company, second, { when: '2020-01-01 10:00' });
  // The oldest record cannot be read, and is on the last page.
  await app.sql('ALTER TABLE cases ENABLE ROW LEVEL SECURITY');
  await app.sql(
    `CREATE POLICY broken ON cases USING (CASE WHEN id = '${second.slice(7)}' THEN 1 / (length(reference) - length(reference)) = 1 ELSE true END)`,
  );
  try {
    assert.equal((await company.get('/interactions?limit=1')).status, 200);
    const response = await unread(company, '/interactions.csv');
    assert.equal(response.statusCode, 200);
    let received = '';
    await assert.rejects(async () => {
      for await (const part of response) received += part;
    }, /aborted|ECONNRESET/);
    assert.ok(received.length > 20_000 * 1_000);
    assert.ok(!received.includes(id));
    // In its first page the fault is an answer.
    assert.equal((await company.get('/interactions.csv?sort=when')).status, 500);
  } finally {
    await app.sql('DROP POLICY broken ON cases');
    await app.sql('ALTER TABLE cases DISABLE ROW LEVEL SECURITY');
  }
});

test('a company has two exports at a time, and what reads slowly holds no connection to the database', async () => {
  const { company, stranger } = await twoCompanies();
  await app.sql(FILL_LONG, [company.companyId, company.caseId]);
  await app.sql(FILL_LONG, [stranger.companyId, stranger.caseId]);
  const slow = [await unread(company, '/interactions.csv'), await unread(company, '/interactions.csv')];
  assertProblem(await company.get('/interactions.csv'), 503, 'unavailable');
  assertProblem(await company.get('/invoices.csv'), 503, 'unavailable');
  await ok(company.get('/interactions?limit=1'));
  const others = [await unread(stranger, '/interactions.csv'), await unread(stranger, '/interactions.csv')];
  const third = await app.company();
  assertProblem(await third.get('/interactions.csv'), 503, 'unavailable');
  const busy = async () =>
    (
      await app.sql(
        `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'case-records' AND state <> 'idle'`,
      )
    ).length;
  await until(async () => (await busy()) === 0);
  // A reader that leaves, and one that reads to the end, make room.
  for (const response of [...slow, ...others.slice(1)]) response.destroy();
  let read = 0;
  for await (const part of others[0] ?? []) read += part.length;
  assert.ok(read > 20_000 * 2_000);
  await until(async () => (await company.get('/invoices.csv')).status === 200);
  assert.equal((await third.get('/interactions.csv')).status, 200);
});
