import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { firstDifference, shapeOf } from '../../bench/equivalence.ts';
import { formsOf } from '../../bench/forms.ts';
import { Driver } from '../../bench/load/driver.ts';
import { OPERATIONS } from '../../bench/operations.ts';
import { toPgbenchSql } from '../../bench/pgbench/scripts.ts';
import { drawChart } from '../../bench/report/chart.ts';
import { describeResults, replaceResults } from '../../bench/report/docs.ts';
import { bySeries, type OperationReport, type Report, ratioOf, summaryOf } from '../../bench/report/report.ts';
import { temporaryDirectory } from '../harness/service.ts';

/** The benchmark runs and measures what it says. The times are not checked, because they depend on the machine. */

const MAIN = new URL('../../bench/main.ts', import.meta.url).pathname;
const MAX_BENCH_MS = 240_000;
const { path: folder, remove } = await temporaryDirectory();
after(remove);

async function bench(...args: string[]): Promise<string> {
  const tiny = ['--cases', '4', '--rounds', '1', '--seconds', '0.03', '--warm-up', '0.01', '--connections', '4'];
  const out = join(folder, 'report.json');
  const { stdout } = await promisify(execFile)(process.execPath, [MAIN, ...tiny, '--out', out, ...args], {
    timeout: MAX_BENCH_MS,
  });
  return stdout;
}

test('every operation is measured in each of its forms, and beside both baselines', async () => {
  const printed = await bench();
  const report: Report = JSON.parse(await readFile(join(folder, 'report.json'), 'utf8'));
  assert.deepEqual(
    report.operations.map(({ id }) => id),
    OPERATIONS.map(({ id }) => id),
  );
  const isSkipped = (name: string) => report.skipped.some((line) => line.startsWith(`Skipped ${name}`));
  for (const [i, operation] of report.operations.entries()) {
    const { name, kind, change } = operation;
    const forms = formsOf(OPERATIONS[i] as (typeof OPERATIONS)[number]);
    const byClient = forms.filter((form) => form !== 'plain').map((form) => `client-${form}` as const);
    const others = ['baseline', 'best-baseline', ...(isSkipped('pgbench') ? [] : ['pgbench'])] as const;
    for (const series of [...forms, ...byClient, ...others] as const) {
      const summary = summaryOf(operation, series as (typeof forms)[number]);
      assert.ok((summary?.requests ?? 0) > 0, `${name} was not measured: ${series}`);
    }
    assert.equal(forms.length, kind === 'read' ? 1 : name.startsWith('Create') ? 2 : 3, name);
    const ratio = ratioOf(operation, 'plain', 'best-baseline');
    assert.ok(ratio && ratio.min > 0 && ratio.min <= ratio.median && ratio.median <= ratio.max, name);
    // A write must change something, and a list must not.
    assert.equal(Object.keys(change).length > 0, kind === 'write', name);
    assert.ok(printed.includes(name), `${name} is not in the table`);
  }
  for (const line of report.skipped) assert.ok(printed.includes(line), `"${line}" is not said`);
  assert.deepEqual(report.operations.find(({ id }) => id === 'createCaseAppointment')?.change, {
    appointments: 1,
    appointments_left: 1,
    appointment_versions: 1,
    messages: 2,
    messages_scheduled: 2,
  });
  const drawn = drawChart(report);
  for (const { name } of report.operations) assert.ok(drawn.includes(`>${name}</text>`), `${name} is not in the chart`);
  const documented = replaceResults('a\n<!-- results -->\nold\n<!-- end of results -->\nb', describeResults(report));
  assert.ok(documented.startsWith('a\n') && documented.endsWith('\nb') && !documented.includes('old'));
  assert.match(documented, /\| Update invoice, client-if-match \|/);
});

test('a trace says what the slow requests met', async () => {
  const args = ['--only', 'createCaseInvoice', '--forms', 'plain', '--against', 'baseline', '--trace'];
  assert.match(await bench(...args), /Create invoice, plain: the slowest \d+ requests/);
});

test('an unknown operation or form ends the run with a line that names those there are', async () => {
  await assert.rejects(bench('--only', 'getCase'), /getCaseInteractions.*not getCase\b/);
  await assert.rejects(bench('--forms', 'keys'), /plain, key, if-match, client; not keys/);
});

const RECORDS = 6;
const dataset = {
  readCases: [],
  writeCases: [{ id: 'c', token: 't', customer: 'u' }],
  people: [],
  interactions: Array.from({ length: RECORDS * 2 }, (_, i) => ({ caseIndex: 0, id: `i${i}` })),
  invoices: [],
  appointments: [],
};

/** A server that holds a version for each path, and refuses a change that does not name it. */
async function versionServer(answer?: (path: string, response: ServerResponse) => boolean) {
  const versions = new Map<string, number>();
  const [keys, inFlight] = [new Set<unknown>(), new Set<string>()];
  const counts = { reads: 0, received: 0, changes: 0, overlaps: 0 };
  const server = createServer(async ({ method, url = '', headers }, response) => {
    const tag = () => `"${versions.get(url) ?? 0}"`;
    if (method === 'GET') counts.reads++;
    else {
      if (inFlight.has(url)) counts.overlaps++;
      inFlight.add(url);
      // Every fifth request takes so long that the others come round to its record again.
      for (let turns = ++counts.received % 5 === 0 ? 100 : 1; turns > 0; turns--) await new Promise(setImmediate);
      inFlight.delete(url);
      if (answer?.(url, response)) return;
      if (headers['if-match'] !== tag() || keys.has(headers['idempotency-key'])) {
        response.writeHead(412).end('{}');
        return;
      }
      keys.add(headers['idempotency-key']);
      versions.set(url, (versions.get(url) ?? 0) + 1);
      counts.changes++;
    }
    response.writeHead(200, { etag: tag(), 'content-type': 'application/json', 'content-length': 2 }).end('{}');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  after(() => server.close().closeAllConnections());
  return { port: (server.address() as AddressInfo).port, counts };
}

for (const transport of ['http', 'client'] as const) {
  const base = {
    operation: 'updateCaseInteraction',
    connections: 4,
    seconds: 0.4,
    form: 'if-match',
    transport,
  } as const;

  test(`requests with If-Match have the current tag, and no two the same record at a time: ${transport}`, async () => {
    const { port, counts } = await versionServer();
    const driver = new Driver(dataset);
    for (let round = 0; round < 2; round++) {
      await driver.prepare({ ...base, port });
      assert.equal((await driver.drive({ ...base, port })).firstFailure, undefined);
    }
    assert.ok(counts.changes > RECORDS, 'no record was changed twice');
    // The tags of the second round come from the responses of the first.
    assert.equal(counts.reads, RECORDS);
    assert.equal(counts.overlaps, 0);
  });

  test(`a refused request and a response without a tag end the round: ${transport}`, async () => {
    const refused = await versionServer((_path, response) => Boolean(response.writeHead(412).end('{}')));
    const silent = await versionServer((_path, response) => {
      return Boolean(response.writeHead(200, { 'content-length': 2 }).end('{}'));
    });
    for (const [{ port }, status, text] of [
      [refused, 412, /./],
      [silent, 200, /has no ETag/],
    ] as const) {
      const driver = new Driver(dataset);
      await driver.prepare({ ...base, port });
      const { firstFailure } = await driver.drive({ ...base, port });
      assert.equal(firstFailure?.status, status);
      assert.match(firstFailure?.text ?? '', text);
    }
  });
}

test('pgbench gets the statement with its values from a table, and new identifiers', () => {
  const newId = '01a1eed2-7924-7003-925d-b03147ca1d5b';
  const since = 0x01a1eed27924;
  const text =
    `WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS id, $3::uuid[] AS item_ids, 1 AS nth)` +
    ` SELECT to_char(now(), 'HH24:MI'), names[:2]::text FROM input`;
  const samples = [['01a1eed2-0000-7003-925d-b03147ca1d5b', newId, `{${newId},${newId}}`]];
  assert.equal(
    toPgbenchSql({ name: 'invoices.insert', text, samples }, 'samples', since),
    `WITH input AS MATERIALIZED (SELECT r.v1::uuid AS company_id, uuidv7() AS id, ` +
      `ARRAY[uuidv7(), uuidv7()] AS item_ids, 1 AS nth FROM samples r WHERE r.n = :n)` +
      ` SELECT to_char(now(), 'HH24' || chr(58) || 'MI'), names[: 2]::text FROM input`,
  );
});

test('a figure is the median over the starts of the medians over the rounds', () => {
  const round = (requestsPerSecond: number) => ({
    ...{ requests: 1, p50: 1, p99: 1, processCpu: 1, databaseCpu: 1, loadCpu: undefined },
    requestsPerSecond,
  });
  const start = (plain: number[]) => bySeries(plain.map((value) => ({ plain: round(value), baseline: round(10) })));
  const starts = [start([1, 2, 30]), start([40, 50, 60]), start([70, 8, 9])];
  const report: OperationReport = { id: 'x', name: 'X', kind: 'read', change: {}, starts };
  assert.equal(summaryOf(report, 'plain')?.requestsPerSecond, 9);
  assert.deepEqual(ratioOf(report, 'plain', 'baseline'), { median: 0.9, min: 0.1, max: 7 });
  assert.equal(ratioOf(report, 'plain', 'pgbench'), undefined);
});

test('answers count as equal if their keys and the types of their values are', () => {
  const answer = { id: 'a', total: 1, items: [{ id: 'b', paid_at: null }] };
  const differ = (other: unknown) => firstDifference(shapeOf(answer), shapeOf(other), 'answer');
  assert.equal(differ({ ...answer, id: 'c', total: 2 }), undefined);
  assert.equal(differ({ ...answer, total: '1' }), 'answer.total: "number" and "string"');
  assert.equal(differ({ id: 'a', total: 1 }), 'answer.items: [{"id":"string","paid_at":"null"}] and undefined');
  assert.equal(differ({ ...answer, items: [{ id: 'b' }] }), 'answer.items.0.paid_at: "null" and undefined');
  assert.equal(differ({ ...answer, more: true }), 'answer.more: undefined and "boolean"');
});
