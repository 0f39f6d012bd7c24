import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { connectClient } from '../../src/kernel/database/connect.ts';
import type { Connection } from '../../src/kernel/database/database.ts';
import { startBundledPostgres } from '../../src/postgres/bundled-postgres.ts';
import { FILL_INTERACTIONS } from '../harness/bodies.ts';
import { commandOutput } from '../harness/command-line.ts';
import { FILL_EVENTS } from '../harness/company-transfer.ts';
import { makeDataDirectory } from '../harness/data-directory.ts';
import { launch, temporaryDirectory, urlOf } from '../harness/service.ts';
import { until } from '../harness/until.ts';

const ROWS = 52_000;
/** The kernel keeps the highest value, so that only growth in the last moments is missed. */
const PEAK_INTERVAL_MS = 25;
const WRITE_INTERVAL_MS = 5;
const MAX_GROWTH_BYTES = 120_000_000;

/** Runs a command in a process of its own, and returns the most memory that it had. */
async function peakMemory(DATABASE_URL: string, ...args: string[]): Promise<number> {
  const { child, output } = launch({ DATABASE_URL }, ...args);
  let peak = 0;
  const timer = setInterval(async () => {
    const status = await readFile(`/proc/${child.pid}/status`, 'utf8').catch(() => '');
    peak = Math.max(peak, Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) * 1024);
  }, PEAK_INTERVAL_MS);
  const [code] = await once(child, 'close');
  clearInterval(timer);
  assert.equal(code, 0, output.join('\n'));
  return peak;
}

/** Writes an interaction together with an event, again and again, and leaves the processors to what is tested. */
function writePairs(connection: Connection, companyId: string, caseId: string): { stop(): Promise<number> } {
  let isStopped = false;
  const write = async () => {
    const client = await connectClient(connection, 'test');
    let pairs = 0;
    for (; !isStopped; pairs++) {
      await client.query('BEGIN');
      for (const text of [FILL_INTERACTIONS, FILL_EVENTS]) await client.query(text, [companyId, caseId, 1]);
      await client.query('COMMIT');
      await pause(WRITE_INTERVAL_MS);
    }
    await client.end();
    return pairs;
  };
  const writing = write();
  return {
    stop: () => {
      isStopped = true;
      return writing;
    },
  };
}

test('a company with 104,000 rows is exported as it is at one moment and imported, in bounded memory', async (t) => {
  const home = await temporaryDirectory();
  const dataDir = join(home.path, 'database');
  await makeDataDirectory('migrated', dataDir);
  const server = await startBundledPostgres({ dataDir, log: () => {} });
  try {
    const admin = await connectClient({ ...server.connection, database: 'postgres' }, 'test');
    await admin.query(`CREATE DATABASE target TEMPLATE ${server.connection.database}`);
    await admin.end();
    const DATABASE_URL = urlOf(server.connection);
    const target = urlOf({ ...server.connection, database: 'target' });
    const make = (...args: string[]) => commandOutput({ DATABASE_URL }, ...args, '--only', 'id');
    const small = await make('company', 'create', '--name', 'Small');
    const companyId = await make('company', 'create', '--name', 'Long');
    const caseId = await make('case', 'create', '--company', companyId, '--reference', 'Long');
    const client = await connectClient(server.connection, 'test');
    await client.query(FILL_INTERACTIONS, [companyId, caseId, ROWS]);
    await client.query(FILL_EVENTS, [companyId, caseId, ROWS]);
    await client.end();
    const [file, smallFile] = [join(home.path, 'long.zip'), join(home.path, 'small.zip')];

    const killed = launch({ DATABASE_URL }, 'company', 'export', companyId, file);
    const isBegun = async () => (await readdir(home.path)).some((name) => name.endsWith('.partial'));
    await until(isBegun, 'the draft of the file');
    killed.child.kill('SIGKILL');
    await once(killed.child, 'close');
    assert.ok(!(await readdir(home.path)).includes('long.zip'));

    const smallExport = await peakMemory(DATABASE_URL, 'company', 'export', small, smallFile);
    const writer = writePairs(server.connection, companyId, caseId);
    const wholeExport = await peakMemory(DATABASE_URL, 'company', 'export', companyId, file);
    const written = await writer.stop();
    const smallImport = await peakMemory(target, 'company', 'import', smallFile);
    const wholeImport = await peakMemory(target, 'company', 'import', file);
    const growth = { export: wholeExport - smallExport, import: wholeImport - smallImport };
    for (const [command, bytes] of Object.entries(growth)) {
      assert.ok(bytes < MAX_GROWTH_BYTES, `${command}: ${Math.round(bytes / 1e6)} MB`);
    }
    const found = await connectClient({ ...server.connection, database: 'target' }, 'test');
    const { rows } = await found.query(
      `SELECT (SELECT count(*)::int FROM interactions) AS interactions,
              (SELECT count(*)::int FROM events WHERE type LIKE 'interaction.%') AS events`,
    );
    await found.end();
    const [{ interactions, events }] = rows;
    t.diagnostic(JSON.stringify({ growth, written, interactions, events }));
    assert.ok(written > 0 && interactions >= ROWS);
    assert.equal(interactions, events, 'the file has the state of one moment');
  } finally {
    await server.stop();
    await home.remove();
  }
});
