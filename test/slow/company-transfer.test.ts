import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { connectClient } from '../../src/kernel/database/connect.ts';
import { startBundledPostgres } from '../../src/postgres/bundled-postgres.ts';
import { FILL_INTERACTIONS } from '../harness/bodies.ts';
import { commandOutput } from '../harness/command-line.ts';
import { FILL_EVENTS } from '../harness/company-transfer.ts';
import { launch, temporaryDirectory, urlOf } from '../harness/service.ts';

const ROWS = 52_000;
const MAX_GROWTH_BYTES = 120_000_000;

/** Runs a command in a process of its own, and returns the most memory that it had. */
async function peakMemory(DATABASE_URL: string, ...args: string[]): Promise<number> {
  const { child, output } = launch({ DATABASE_URL }, ...args);
  let peak = 0;
  const timer = setInterval(async () => {
    const status = await readFile(`/proc/${child.pid}/status`, 'utf8').catch(() => '');
    peak = Math.max(peak, Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) * 1024);
  }, 5);
  const [code] = await once(child, 'close');
  clearInterval(timer);
  assert.equal(code, 0, output.join('\n'));
  return peak;
}

test('a company with 104,000 rows is exported and imported in bounded memory, and nothing looks whole after a kill', async (t) => {
  const home = await temporaryDirectory();
  const server = await startBundledPostgres({ dataDir: join(home.path, 'database'), log: () => {} });
  try {
    const admin = await connectClient(server.connection, 'test');
    await admin.query('CREATE DATABASE target');
    await admin.end();
    const DATABASE_URL = urlOf(server.connection);
    const target = urlOf({ ...server.connection, database: 'target' });
    for (const url of [DATABASE_URL, target]) await commandOutput({ DATABASE_URL: url }, 'migrate');
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
    while (!(await readdir(home.path)).includes('long.zip.partial')) await new Promise(setImmediate);
    killed.child.kill('SIGKILL');
    await once(killed.child, 'close');
    assert.ok(!(await readdir(home.path)).includes('long.zip'));

    const growth = {
      export:
        -(await peakMemory(DATABASE_URL, 'company', 'export', small, smallFile)) +
        (await peakMemory(DATABASE_URL, 'company', 'export', companyId, file)),
      import:
        -(await peakMemory(target, 'company', 'import', smallFile)) +
        (await peakMemory(target, 'company', 'import', file)),
    };
    t.diagnostic(JSON.stringify(growth));
    for (const [command, bytes] of Object.entries(growth)) {
      assert.ok(bytes < MAX_GROWTH_BYTES, `${command}: ${Math.round(bytes / 1e6)} MB`);
    }
    const found = await connectClient({ ...server.connection, database: 'target' }, 'test');
    const { rows } = await found.query(
      'SELECT (SELECT count(*)::int FROM interactions) AS interactions, (SELECT count(*)::int FROM events) AS events',
    );
    await found.end();
    assert.ok(rows[0].interactions === ROWS && rows[0].events >= ROWS);
  } finally {
    await server.stop();
    await home.remove();
  }
});
