import assert from 'node:assert/strict';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { ZipReader } from '../src/server/company-transfer/zip-reader.ts';
import { startApp } from '../test/harness/app.ts';
import { FILL_INTERACTIONS } from '../test/harness/bodies.ts';
import { runCommand } from '../test/harness/command-line.ts';
import { FILL_EVENTS, fillCompany, rowsOf } from '../test/harness/company-transfer.ts';
import { secrets } from '../test/harness/meeting-worker.ts';
import { launch, temporaryDirectory, urlOf } from '../test/harness/service.ts';

/** Kills the export and the import of a company at random moments. ROUNDS and ROWS make it shorter or longer. */

const rounds = Number(process.env.ROUNDS ?? 20);
const rows = Number(process.env.ROWS ?? 20_000);

type Kills = { killed: number; finished: number; slowestMs: number };

/** Runs a command that is killed within the time that a whole run needs; a round that finishes before counts too. */
async function killAtRandom(env: Record<string, string>, args: string[], wholeMs: number): Promise<boolean> {
  const { child, ended } = launch(env, ...args);
  const end = ended();
  const moment = Math.random() * wholeMs;
  const isKilled = await Promise.race([end.then(() => false), delay(moment, true)]);
  if (isKilled) child.kill('SIGKILL');
  await end;
  return isKilled;
}

async function timed(work: () => Promise<number | null>): Promise<number> {
  const start = performance.now();
  assert.equal(await work(), 0);
  return performance.now() - start;
}

test(`export and import of some ${2 * rows} rows, killed ${rounds} times each`, async (t) => {
  const home = await temporaryDirectory();
  const source = await startApp({ secrets });
  const company = await source.company();
  await fillCompany(source, company);
  await source.sql(FILL_INTERACTIONS, [company.companyId, company.caseId, rows]);
  await source.sql(FILL_EVENTS, [company.companyId, company.caseId, rows]);
  const env = { DATABASE_URL: urlOf(source.connection) };
  const whole = join(home.path, 'whole.zip');
  const exportMs = await timed(() => launch(env, 'company', 'export', company.companyId, whole).ended());
  const exports: Kills = { killed: 0, finished: 0, slowestMs: exportMs };
  for (let round = 0; round < rounds; ) {
    const file = join(home.path, 'killed.zip');
    const isKilled = await killAtRandom(env, ['company', 'export', company.companyId, file], exportMs);
    if (isKilled) round += 1;
    exports[isKilled ? 'killed' : 'finished'] += 1;
    // A file with its name is whole.
    if ((await readdir(home.path)).includes('killed.zip')) {
      const zip = await ZipReader.open(file);
      for await (const _chunk of zip.read('manifest.json'));
      await zip.close();
      await rm(file);
    }
  }
  assert.equal((await runCommand(env, 'company', 'export', company.companyId, join(home.path, 'last.zip'))).code, 0);

  const expected = await rowsOf(source, company.companyId);
  const importArgs = ['company', 'import', whole];
  const measured = await startApp();
  const importMs = await timed(() => launch({ DATABASE_URL: urlOf(measured.connection) }, ...importArgs).ended());
  const imports: Kills & { databases: number } = { killed: 0, finished: 0, slowestMs: importMs, databases: 0 };
  for (let kills = 0; kills < rounds; ) {
    const target = await startApp();
    const targetEnv = { DATABASE_URL: urlOf(target.connection) };
    imports.databases += 1;
    // One to four kills of the same import, then it is left to finish.
    for (let left = 1 + Math.floor(Math.random() * 4); left > 0 && kills < rounds; left--) {
      const isKilled = await killAtRandom(targetEnv, importArgs, importMs);
      if (isKilled) kills += 1;
      imports[isKilled ? 'killed' : 'finished'] += 1;
    }
    const { code, err } = await runCommand(targetEnv, ...importArgs);
    assert.equal(code, 0, err);
    assert.deepEqual(await rowsOf(target, company.companyId), expected);
    assert.match((await runCommand(targetEnv, ...importArgs)).out, /nothing was changed/);
  }
  t.diagnostic(JSON.stringify({ rows: 2 * rows, exports, imports }));
  await home.remove();
});
