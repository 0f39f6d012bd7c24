import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pino } from 'pino';
import type { Query } from '../src/kernel/sql/statement.ts';
import { rebuildIndex } from '../src/search/rebuild.ts';
import { removeCompany } from '../src/server/company-removal.ts';
import type { TestCompany } from './harness/app.ts';
import { ok } from './harness/assert.ts';
import { runCommand } from './harness/command-line.ts';
import {
  addAppointment,
  addEntry,
  addInteraction,
  addInvoice,
  app,
  ids,
  index,
  openCase,
  search,
  searchQueries,
} from './harness/search.ts';
import { pagesOf } from './harness/search-pages.ts';
import { urlOf } from './harness/service.ts';

/** The index of searches follows the records, and can be built anew at any time. */

test('a change is found after the next step of the index, and its old words are not', async () => {
  const company = await app.company();
  const id = await addInteraction(company, company.caseId, { notes: 'azalea' });
  await index();
  assert.deepEqual(ids(await search(company, 'azalea')), [id]);
  await ok(company.patch(`${company.path}/interactions/${id}`, { type: 'phone', notes: 'begonia' }));
  // The index is not up to date, but what it shows is: the record does not match any more.
  assert.deepEqual(await search(company, 'azalea'), []);
  await index();
  assert.deepEqual(ids(await search(company, 'begonia')), [id]);
  assert.deepEqual(await search(company, 'azalea'), []);
});

test('changes are found however many there are since the last step of the index', async () => {
  const company = await app.company();
  await index();
  for (let nth = 0; nth < 60; nth++) await addInteraction(company, company.caseId, { notes: 'azalea' });
  await index();
  assert.equal((await pagesOf(company, 'azalea')).flat().length, 60);
});

test('a deleted record is not found from that moment, and a restored one is', async () => {
  const company = await app.company();
  const path = `${company.path}/interactions/${await addInteraction(company, company.caseId, { notes: 'camellia' })}`;
  await index();
  await ok(company.delete(path));
  assert.deepEqual(await search(company, 'camellia'), []);
  await index();
  assert.deepEqual(await search(company, 'camellia'), []);
  const [{ count }] = (await app.sql<{ count: number }>(
    'SELECT count(*)::int AS count FROM search_documents WHERE id = $1',
    [path.split('/').at(-1)],
  )) as [{ count: number }];
  assert.equal(count, 0);
  await ok(company.post(`${path}/restore`));
  await index();
  assert.equal((await search(company, 'camellia')).length, 1);
});

test('a deleted entry or appointment is not found from that moment, and its words leave the index', async () => {
  const company = await app.company();
  const paths = {
    entry: `${company.path}/address-book/entry/${await addEntry(company, company.caseId, { last_name: 'Camellia' })}`,
    appointment: `${company.path}/appointments/${await addAppointment(company, company.caseId, { notes: 'camellia' })}`,
  };
  await index();
  for (const [kind, path] of Object.entries(paths)) {
    assert.equal((await search(company, 'camellia', `&kinds=${kind}`)).length, 1);
    await ok(company.delete(path));
    assert.deepEqual(await search(company, 'camellia', `&kinds=${kind}`), []);
  }
  await index();
  assert.equal(await countDocuments(company.caseId, 'camellia'), 0);
});

test('all records of a case are found by its new reference and by its new customers', async () => {
  const company = await app.company();
  const caseId = await openCase(company, 'Dahlia');
  const call = await addInteraction(company, caseId, { notes: 'a call' });
  const invoice = await addInvoice(company, caseId, {});
  await index();
  assert.equal((await search(company, 'dahlia')).length, 3);
  await ok(company.patch(`/manage/cases/${caseId}`, { reference: 'Edelweiss' }));
  await index();
  await ok(company.post(`/manage/cases/${caseId}/customers`, { last_name: 'Freesia' }));
  await index();
  assert.deepEqual(await search(company, 'dahlia'), []);
  for (const word of ['edelweiss', 'freesia']) {
    const found = ids(await search(company, word));
    for (const id of [caseId, call, invoice]) assert.ok(found.includes(id), `${word} ${id}`);
  }
  const [customer] = (await search(company, 'freesia', '&kinds=customer')).map(({ id }) => id);
  await ok(company.delete(`/manage/cases/${caseId}/customers/${customer}`));
  await index();
  assert.deepEqual(await search(company, 'freesia'), []);
});

test('the index is built anew if a kind of case gets another name, and not if it keeps its own', async () => {
  const company = await app.company();
  const { id: kind_id } = await ok(company.post('/manage/case-kinds', { name: 'Hyacinth' }));
  const { id } = await ok(company.post('/manage/cases', { reference: 'By kind', kind_id }));
  const call = await addInteraction(company, company.caseId, { notes: 'iris' });
  await index();
  assert.deepEqual(ids(await search(company, 'hyacinth')), [id]);
  // A document that is lost shows whether the index was built anew.
  await app.sql('DELETE FROM search_documents WHERE id = $1', [call]);
  await ok(company.patch(`/manage/case-kinds/${kind_id}`, { name: 'Hyacinth' }));
  await index();
  assert.deepEqual(await search(company, 'iris'), []);
  await ok(company.patch(`/manage/case-kinds/${kind_id}`, { name: 'Jasmine' }));
  await index();
  assert.deepEqual(ids(await search(company, 'jasmine')), [id]);
  assert.deepEqual(await search(company, 'hyacinth'), []);
  assert.deepEqual(ids(await search(company, 'iris')), [call]);
});

test('an index that is built anew has the same documents, and is complete only at its end', async () => {
  const company = await app.company();
  for (let i = 0; i < 60; i++) {
    const caseId = await openCase(company, `Gentian ${i}`);
    if (i % 10 === 0) await addEntry(company, caseId, { last_name: 'Gentian' });
  }
  await index();
  const documents = () =>
    app.sql('SELECT * FROM search_documents WHERE company_id = $1 ORDER BY case_id, kind, id', [company.companyId]);
  const before = await documents();
  assert.ok(before.length > 60);
  await app.sql('DELETE FROM search_documents WHERE company_id = $1', [company.companyId]);
  assert.equal(await rebuildIndex(app.db, company.companyId), 1);
  await index();
  assert.deepEqual(await documents(), before);
  assert.equal((await ok(company.get('/search?q=gentian'))).complete, true);
  // An interrupted worker has built a part.
  await app.sql('UPDATE search_progress SET built_to = $2 WHERE company_id = $1', [
    company.companyId,
    before[30]?.case_id,
  ]);
  const { hits, complete } = await ok(company.get('/search?q=gentian'));
  assert.deepEqual([hits.length, complete], [20, false]);
  await index();
  assert.deepEqual(await documents(), before);
});

/** Adds calls to a case, without events. */
const addCalls = (company: TestCompany, caseId: string, notes: string, count: number) =>
  app.sql(
    `INSERT INTO interactions (company_id, case_id, id, type, notes, recipient, happened_at, created_at, updated_at)
     SELECT $1, $2, gen_random_uuid(), 'phone', $3, '', now(), now(), now() FROM generate_series(1, $4::int)`,
    [company.companyId, caseId, notes, count],
  );
async function countDocuments(caseId: string, word: string): Promise<number> {
  const rows = await app.sql(`SELECT FROM search_documents WHERE case_id = $1 AND words::text LIKE '%' || $2 || '%'`, [
    caseId,
    word,
  ]);
  return rows.length;
}
/** Runs the work and returns the most documents that one of its transactions has written. */
async function largestTransaction(work: () => Promise<void>): Promise<number> {
  await app.sql(`CREATE TABLE written (transaction xid8, documents int)`);
  await app.sql(`CREATE FUNCTION note_written() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
    BEGIN INSERT INTO written VALUES (pg_current_xact_id(), 1); RETURN NULL; END $$`);
  await app.sql(`CREATE TRIGGER note_written AFTER INSERT OR UPDATE ON search_documents
    FOR EACH ROW EXECUTE FUNCTION note_written()`);
  try {
    await work();
    const [row] = await app.sql<{ most: number }>(
      `SELECT max(documents)::int AS most FROM (SELECT sum(documents) AS documents FROM written GROUP BY transaction) w`,
    );
    return row?.most ?? 0;
  } finally {
    await app.sql('DROP TRIGGER note_written ON search_documents');
    await app.sql('DROP FUNCTION note_written');
    await app.sql('DROP TABLE written');
  }
}
/** Stops the worker after this many claims of a company. */
function stoppedAfter(claims: number) {
  const stopping = new AbortController();
  const clock = () => {
    if (--claims <= 0) stopping.abort();
    return app.clock.read();
  };
  return { clock, signal: stopping.signal };
}

test('a case of any size is indexed anew in transactions of a limited size', async () => {
  const company = await app.company();
  const caseId = await openCase(company, 'Magnolia');
  await addCalls(company, caseId, 'a call', 1_000);
  await addEntry(company, caseId, { last_name: 'Smith' });
  await app.sql('UPDATE search_progress SET edition = 0 WHERE company_id = $1', [company.companyId]);
  assert.equal(await largestTransaction(() => index({ maxStepRecords: 90 })), 90);
  assert.equal(await countDocuments(caseId, 'magnolia'), 1_002);
  await ok(company.patch(`/manage/cases/${caseId}`, { reference: 'Narcissus' }));
  assert.equal(await largestTransaction(() => index({ maxStepRecords: 90 })), 90);
  assert.equal(await countDocuments(caseId, 'narcissus'), 1_002);
  assert.equal(await countDocuments(caseId, 'magnolia'), 0);
  await app.sql('DELETE FROM interactions WHERE case_id = $1', [caseId]);
  await ok(company.patch(`/manage/cases/${caseId}`, { reference: 'Orchid' }));
  await index({ maxStepRecords: 90 });
  assert.equal(await countDocuments(caseId, ''), 2, 'records that are gone are removed in steps too');
});

test('what happens while a large case is indexed anew is found first, and a stopped worker goes on where it was', async () => {
  const [company, other] = [await app.company(), await app.company()];
  const caseId = await openCase(company, 'Peony');
  await addCalls(company, caseId, 'a call', 500);
  await index();
  await ok(company.patch(`/manage/cases/${caseId}`, { reference: 'Quince' }));
  await index({ maxStepRecords: 50, ...stoppedAfter(4) });
  const reached = await countDocuments(caseId, 'quince');
  assert.ok(reached > 50 && reached < 500, String(reached));
  const call = await addInteraction(company, caseId, { notes: 'ranunculus' });
  const elsewhere = await addInteraction(other, other.caseId, { notes: 'ranunculus' });
  await index({ maxStepRecords: 1, ...stoppedAfter(5) });
  assert.deepEqual(ids(await search(company, 'ranunculus')), [call]);
  assert.deepEqual(ids(await search(other, 'ranunculus')), [elsewhere]);
  assert.ok((await countDocuments(caseId, 'peony')) > 400 - reached);
  // A customer is added in the middle: what is done must be done once more.
  await ok(company.post(`/manage/cases/${caseId}/customers`, { last_name: 'Snapdragon' }));
  const rewritten = await largestTransaction(() => index({ maxStepRecords: 50 }));
  assert.equal(rewritten, 50);
  assert.equal(await countDocuments(caseId, 'quince'), 503);
  assert.equal(await countDocuments(caseId, 'snapdragon'), 503);
});

test('a case that changes when a part of it is indexed anew is begun again in a step of its own', async () => {
  const company = await app.company();
  const cases = [await openCase(company, 'Peony'), await openCase(company, 'Peony')];
  for (const caseId of cases) await addCalls(company, caseId, 'a call', 40);
  await index();
  for (const caseId of cases) await ok(company.patch(`/manage/cases/${caseId}`, { reference: 'Quince' }));
  await index({ maxStepRecords: 60, ...stoppedAfter(3) });
  const reached = await Promise.all(cases.map((caseId) => countDocuments(caseId, 'quince')));
  const half = cases[reached.findIndex((count) => count > 1 && count < 41)] ?? '';
  assert.ok(half, String(reached));
  await ok(company.patch(`/manage/cases/${half}`, { reference: 'Rowan' }));
  await index({ maxStepRecords: 60 });
  assert.equal(await countDocuments(half, 'rowan'), 41);
});

test('companies with cases to index anew take turns', async () => {
  const companies = [await app.company(), await app.company()];
  for (const company of companies) await addCalls(company, company.caseId, 'a call', 100);
  await index();
  for (const company of companies) await ok(company.patch(`/manage/cases/${company.caseId}`, { reference: 'Sorrel' }));
  // Some 24 steps, of which each takes one of the companies at random.
  await index({ maxStepRecords: 2, ...stoppedAfter(50) });
  for (const { caseId } of companies) {
    const reached = await countDocuments(caseId, 'sorrel');
    assert.ok(reached > 1 && reached < 100, String(reached));
  }
  await index();
});

test('a company that cannot be indexed holds up no other, is logged and counted, and is tried again later', async () => {
  const [failing, other] = [await app.company(), await app.company()];
  await index();
  const call = await addInteraction(failing, failing.caseId, { notes: 'tulip' });
  const found = await addInteraction(other, other.caseId, { notes: 'tulip' });
  await app.sql(`CREATE FUNCTION refuse_words() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN IF new.company_id::text = TG_ARGV[0] THEN RAISE EXCEPTION 'no words'; END IF; RETURN new; END $$`);
  await app.sql(`CREATE TRIGGER refuse_words BEFORE INSERT ON search_documents
    FOR EACH ROW EXECUTE FUNCTION refuse_words('${failing.companyId}')`);
  const lines: { msg: string; company: string }[] = [];
  const logger = pino({ base: null }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const failingCompanies = async () =>
    /^search_companies_failing (.*)$/m.exec((await app.anonymous.get('/metrics')).text)?.[1];
  try {
    await index({ logger });
    await index({ logger });
    assert.deepEqual(
      lines.map(({ msg, company }) => [msg, company]),
      [['failed to index changes of a company for searches; retrying', failing.companyId]],
    );
    assert.deepEqual(ids(await search(other, 'tulip')), [found]);
    assert.equal(await failingCompanies(), '1');
    app.clock.advance({ seconds: 10 });
    await index({ logger });
    assert.equal(lines.length, 2);
    app.clock.advance({ seconds: 19 });
    await index({ logger });
    assert.equal(lines.length, 2, 'it waits for twice as long');
    app.clock.advance({ seconds: 1 });
    await index({ logger });
    assert.equal(lines.length, 3);
    app.clock.advance({ seconds: 39 });
    await index({ logger });
    assert.equal(lines.length, 3, 'and twice as long again');
    await app.sql('UPDATE search_progress SET failures = 20 WHERE company_id = $1', [failing.companyId]);
    app.clock.advance({ seconds: 1 });
    await index({ logger });
    assert.equal(lines.length, 4);
  } finally {
    await app.sql('DROP TRIGGER refuse_words ON search_documents');
    await app.sql('DROP FUNCTION refuse_words');
  }
  app.clock.advance({ minutes: 10 });
  await index({ logger });
  assert.deepEqual(ids(await search(failing, 'tulip')), [call], 'it waits for ten minutes at most');
  assert.equal(await failingCompanies(), '0');
});

test('a company whose cases fail waits longer each time, though its events are indexed meanwhile', async () => {
  const company = await app.company();
  const caseId = await openCase(company, 'Peony');
  await addCalls(company, caseId, 'a call', 1);
  await index();
  await app.sql(`CREATE FUNCTION refuse_words() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN IF new.case_id::text = TG_ARGV[0] AND new.kind = 'interaction' THEN RAISE EXCEPTION 'no words'; END IF;
    RETURN new; END $$`);
  await app.sql(`CREATE TRIGGER refuse_words BEFORE INSERT ON search_documents
    FOR EACH ROW EXECUTE FUNCTION refuse_words('${caseId}')`);
  let failures = 0;
  const logger = pino({ base: null }, { write: () => void failures++ });
  try {
    await ok(company.patch(`/manage/cases/${caseId}`, { reference: 'Quince' }));
    await index({ logger });
    assert.equal(failures, 1);
    const entry = await addEntry(company, caseId, { last_name: 'Rowan' });
    app.clock.advance({ seconds: 10 });
    await index({ logger });
    assert.equal(failures, 2);
    assert.deepEqual(ids(await search(company, 'rowan', '&kinds=entry')), [entry]);
    app.clock.advance({ seconds: 19 });
    await index({ logger });
    assert.equal(failures, 2, 'it waits for twice as long');
  } finally {
    await app.sql('DROP TRIGGER refuse_words ON search_documents');
    await app.sql('DROP FUNCTION refuse_words');
  }
  app.clock.advance({ seconds: 1 });
  await index();
  assert.equal(await countDocuments(caseId, 'quince'), 3);
});

test('phone numbers are found by the region of the company as it is now', async () => {
  const company = await app.company();
  const id = await addInteraction(company, company.caseId, { notes: 'rang 030 23125000' });
  await index();
  assert.deepEqual(await search(company, '+49 30 23125000'), []);
  await ok(company.patch('/manage/company', { phone_region: 'DE' }));
  // A process uses what it knows of a company for a moment.
  app.clock.advance({ minutes: 1 });
  await index({ maxStepRecords: 1, ...stoppedAfter(2) });
  assert.equal((await ok(company.get('/search?q=030+23125000'))).complete, false);
  await index();
  assert.deepEqual(ids(await search(company, '+49 30 23125000')), [id]);
  await app.sql('UPDATE search_progress SET phone_region = NULL WHERE company_id = $1', [company.companyId]);
  await app.sql('DELETE FROM search_documents WHERE company_id = $1', [company.companyId]);
  await index();
  assert.deepEqual(ids(await search(company, '+49 30 23125000')), [id], 'also if the previous release indexed it');
});

test('what changes while an index is built is found when it is complete', async () => {
  const company = await app.company();
  await app.sql(`UPDATE search_progress SET edition = 0 WHERE company_id = $1`, [company.companyId]);
  const id = await addInteraction(company, company.caseId, { notes: 'hyacinth' });
  await index();
  assert.deepEqual(ids(await search(company, 'hyacinth')), [id]);
});

test('a company that is not indexed yet finds nothing, and is told so', async () => {
  const company = await app.company();
  assert.deepEqual(await ok(company.get('/search?q=smith')), { hits: [], complete: false });
});

test('the event loop serves others between the records of a step', async () => {
  const company = await app.company();
  await index();
  // Without events the records are indexed only when the case is, all of them in one step.
  await addCalls(company, company.caseId, `narcissus ${'1a '.repeat(5_000)}`, 60);
  await ok(company.patch(`/manage/cases/${company.caseId}`, { reference: 'Orchid' }));
  let longestMs = 0;
  let turnAt = performance.now();
  const startedAt = turnAt;
  const observeTurns = () => {
    longestMs = Math.max(longestMs, performance.now() - turnAt);
    turnAt = performance.now();
    turn = setImmediate(observeTurns);
  };
  let turn = setImmediate(observeTurns);
  await index();
  clearImmediate(turn);
  const totalMs = performance.now() - startedAt;
  assert.ok(longestMs < totalMs / 2, `one turn took ${longestMs} of ${totalMs} ms`);
  assert.equal((await search(company, 'narcissus')).length, 20);
});

test('several workers at the same time index every change once', async () => {
  const companies = await Promise.all([app.company(), app.company(), app.company()]);
  for (const company of companies) await addInteraction(company, company.caseId, { notes: 'iris' });
  await Promise.all([index(), index(), index(), index()]);
  await index();
  for (const company of companies) assert.equal((await search(company, 'iris')).length, 1);
});

test('a change that is committed after later ones is indexed', async () => {
  const company = await app.company();
  await index();
  const slow = app.db.transaction(async (tx) => {
    await tx.queryRows({
      statement: { name: 'test.slow_event', text: SLOW_EVENT, readOnly: false, pool: 'short', key: [] },
      values: [company.companyId, company.caseId, company.customers[0].id],
    });
    await addInteraction(company, company.caseId, { notes: 'jasmine' });
    await index();
  });
  await slow;
  await index();
  const [{ position }] = (await app.sql('SELECT position FROM search_progress WHERE company_id = $1', [
    company.companyId,
  ])) as [{ position: string }];
  const [{ last }] = (await app.sql('SELECT max(position) AS last FROM events WHERE company_id = $1', [
    company.companyId,
  ])) as [{ last: string }];
  assert.ok(BigInt(position) >= BigInt(last));
  assert.equal((await search(company, 'jasmine')).length, 1);
  assert.ok(ids(await search(company, 'jonquil', '&kinds=customer')).includes(company.customers[0].id));
});

const SLOW_EVENT = `
  WITH u AS (UPDATE customers SET last_name = 'Jonquil' WHERE company_id = $1 AND case_id = $2 AND id = $3 RETURNING *)
  INSERT INTO events (company_id, case_id, record_id, type, at, origin)
  SELECT company_id, case_id, id, 'customer.updated', now(), '{"actor":{"type":"worker"}}' FROM u`;

test('the index of a company is removed with it', async () => {
  const [company, other] = [await app.company(), await app.company()];
  await addInteraction(company, company.caseId, { notes: 'kalmia' });
  await index();
  await removeCompany(app.connection, company.companyId, {});
  for (const table of ['search_documents', 'search_progress']) {
    assert.deepEqual(await app.sql(`SELECT FROM ${table} WHERE company_id = $1`, [company.companyId]), [], table);
    assert.notDeepEqual(await app.sql(`SELECT FROM ${table} WHERE company_id = $1`, [other.companyId]), [], table);
  }
  await index();
});

test('the command has the index of one company or of all built anew', async () => {
  const company = await app.company();
  await index();
  const env = { DATABASE_URL: urlOf(app.connection) };
  const editions = () => app.sql('SELECT DISTINCT edition FROM search_progress');
  const current = await editions();
  assert.equal(current.length, 1);
  const one = await runCommand(env, 'search', 'rebuild', '--company', company.companyId, '--json');
  assert.deepEqual(JSON.parse(one.out), { companies: 1 });
  assert.equal((await editions()).length, 2);
  const all = await runCommand(env, 'search', 'rebuild', '--json');
  assert.ok(JSON.parse(all.out).companies > 1);
  assert.deepEqual(await editions(), [{ edition: 0 }]);
  await index();
  assert.deepEqual(await editions(), current);
  assert.equal((await runCommand(env, 'search', 'rebuild', '--company', crypto.randomUUID())).code, 4);
});

test('the metrics tell how late the index is', async () => {
  const company = await app.company();
  const value = async (name: string) => {
    const { text } = await app.anonymous.get('/metrics');
    return Number(new RegExp(`^${name} (.*)$`, 'm').exec(text)?.[1]);
  };
  assert.ok((await value('search_companies_to_build')) >= 1);
  await index();
  assert.equal(await value('search_companies_to_build'), 0);
  await addInteraction(company, company.caseId, { notes: 'late' });
  app.clock.advance({ seconds: 90 });
  assert.equal(await value('search_index_lag_seconds'), 90);
  await index();
  assert.equal(await value('search_index_lag_seconds'), 0);
});

test('a search reads its indexes, however many records other companies have', async () => {
  const company = await app.company();
  await addInteraction(company, company.caseId, { notes: 'lobelia' });
  await index();
  await app.sql(
    `INSERT INTO search_documents (company_id, case_id, kind, id, at, words)
     SELECT $1, gen_random_uuid(), 'interaction', gen_random_uuid(), now(),
            array_to_tsvector(ARRAY['0:lobelia', '0:word' || n % 1000, '0#interaction']) FROM generate_series(1, 30000) n`,
    [crypto.randomUUID()],
  );
  await app.sql('ANALYZE search_documents');
  const planOf = async ({ statement, values }: Query) => {
    const rows = await app.sql<{ 'QUERY PLAN': string }>(`EXPLAIN ${statement.text}`, values);
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    assert.doesNotMatch(plan, /Seq Scan on search_documents/);
    return plan;
  };
  const { newest, byOne, byTwo } = searchQueries(company.companyId);
  assert.match(await planOf(newest), /Index Scan Backward using search_documents_by_time/);
  // Each condition is one of the index. Of two, the first one may be checked alone before.
  for (const [query, expected] of [
    [byOne, [1]],
    [byTwo, [1, 2]],
  ] as const) {
    const index = /Bitmap Index Scan on search_documents_of_periods[^\n]*\n *Index Cond: ([^\n]*)/g;
    const counts = Array.from(
      (await planOf(query)).matchAll(index),
      ([, one]) => one?.match(/words_of_period\(/g)?.length,
    );
    assert.deepEqual(counts.sort(), expected);
  }
  assert.equal((await search(company, 'lobelia')).length, 1);
});
