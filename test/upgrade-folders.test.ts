import assert from 'node:assert/strict';
import { mkdir, readdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { isSwitchUnfinished } from '../src/postgres/bundled-postgres.ts';
import { assertNotSetAside, finishSwitch, setOldAside } from '../src/postgres/major-upgrade.ts';
import { moveDatabase } from '../src/upgrade/move-database.ts';
import { temporaryDirectory } from './harness/service.ts';

/** The folders of an upgrade to another major version that was killed between its two renamings. */

async function writeDatabase(dataDir: string, name: string, major: string, state: string): Promise<void> {
  for (const folder of ['base', 'global']) await mkdir(join(dataDir, name, folder), { recursive: true });
  await writeFile(join(dataDir, name, 'PG_VERSION'), `${major}\n`);
  await writeFile(join(dataDir, name, 'global', 'pg_control'), state);
}

/** Folders as an upgrade leaves them that was killed between the two renamings. */
async function interrupted(t: TestContext): Promise<string> {
  const { path, remove } = await temporaryDirectory();
  t.after(remove);
  await writeDatabase(path, 'postgres', '17', 'stopped for the copy');
  await writeDatabase(path, 'postgres.upgrading', '18', 'the copy');
  await setOldAside(path, '17');
  return path;
}
const folders = async (dataDir: string) =>
  (await readdir(dataDir)).filter((name) => name.startsWith('postgres')).sort();
const options = { oldPrograms: undefined, migrations: [], onProgress: () => {}, onServer: () => {} };

test('the copy of the database that was set aside takes its place', async (t) => {
  const dataDir = await interrupted(t);
  assert.equal(await finishSwitch(dataDir), true);
  assert.deepEqual(await folders(dataDir), ['postgres', 'postgres.old-17']);
});

test('a copy is not put in the place of a database that was used after it, or is not there', async (t) => {
  const dataDir = await interrupted(t);
  await rename(join(dataDir, 'postgres.old-17'), join(dataDir, 'elsewhere'));
  assert.equal(await finishSwitch(dataDir), false);
  await rename(join(dataDir, 'elsewhere'), join(dataDir, 'postgres.old-17'));
  assert.equal(await isSwitchUnfinished(dataDir), true);
  await writeDatabase(dataDir, 'postgres.old-17', '17', 'written to by the old version');
  assert.equal(await finishSwitch(dataDir), false);
  await assert.rejects(assertNotSetAside(dataDir), /an upgrade has left .*postgres\.old-17/);
  assert.deepEqual(await folders(dataDir), ['postgres.old-17', 'postgres.upgrading']);
});

test('an empty database that an old version has made meanwhile is named, and the copy stays', async (t) => {
  const dataDir = await interrupted(t);
  await writeDatabase(dataDir, 'postgres', '17', 'empty');
  await assert.rejects(moveDatabase({ ...options, dataDir }), /postgres was made since then.*Move that folder away/s);
  assert.deepEqual(await folders(dataDir), ['postgres', 'postgres.old-17', 'postgres.upgrading']);
  await rename(join(dataDir, 'postgres'), join(dataDir, 'moved-away'));
  await moveDatabase({ ...options, dataDir });
  assert.deepEqual(await folders(dataDir), ['postgres', 'postgres.old-17']);
});
