import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { archiveWaiting, failureOf } from '../src/backup/archive-waiting.ts';
import { assertNewestTimeline, claimFolder, takeOverFolder } from '../src/backup/claim.ts';
import { chooseBackup, hasGap, listReach } from '../src/backup/list.ts';
import { pruneBackups } from '../src/backup/prune.ts';
import { archivedNames, archiveWal } from '../src/backup/wal-archive.ts';
import { temporaryDirectory } from './harness/service.ts';

/** The folder of backups, with files in place of a database. */

const SEGMENT_BYTES = 16 * 1024 * 1024;
const SYSTEM = '7000000000000000001';
const at = (time: string) => Temporal.Instant.from(`2026-11-18T${time}Z`);

let folder: string;
let archive: string;
let source: string;

let remove: () => Promise<void>;

afterEach(() => remove());

beforeEach(async () => {
  const home = await temporaryDirectory();
  remove = home.remove;
  folder = join(home.path, 'the backups');
  archive = join(folder, `wal-${SYSTEM}`);
  source = join(home.path, 'source');
  await mkdir(folder, { recursive: true });
});

const segment = (timeline: number, number: number) =>
  [timeline, 0, number].map((part) => part.toString(16).toUpperCase().padStart(8, '0')).join('');

const namesOf = (files: readonly { name: string }[]) => files.map(({ name }) => name);

async function addWal(name: string, time: string, content = name): Promise<void> {
  await writeFile(source, content);
  await utimes(source, new Date(String(at(time))), new Date(String(at(time))));
  await archiveWal(archive, name, source);
}

/** Adds a backup of one segment, made within a minute. */
async function addBackup(time: string, { timeline = 1, number = 1, system = SYSTEM } = {}): Promise<string> {
  const name = `20261118T${time.replaceAll(':', '')}Z`;
  const [first, stopped_at] = [segment(timeline, number), at(time).toString()];
  const end = `0/${(number * SEGMENT_BYTES + 4096).toString(16).toUpperCase()}`;
  const wal = { segment_bytes: SEGMENT_BYTES, timeline, first, last: first, end };
  await mkdir(join(folder, name));
  const manifest = { format: 1, system_identifier: system, started_at: stopped_at, stopped_at, wal, files: [] };
  await writeFile(join(folder, name, 'manifest.json'), JSON.stringify(manifest));
  return name;
}

/** At 13:30 the database was restored to the state of segment 2, and goes on as timeline 2. */
async function addRestoredDatabase(): Promise<{ first: string; abandoned: string; newest: string }> {
  const first = await addBackup('09:00:00');
  for (const [number, time] of [
    [2, '10:00:00'],
    [3, '12:00:00'],
    [4, '13:00:00'],
  ] as const) {
    await addWal(segment(1, number), time);
  }
  const abandoned = await addBackup('11:00:00', { number: 3 });
  await addWal('00000002.history', '13:30:00', `1\t0/${(2 * SEGMENT_BYTES + 64).toString(16)}\tbefore a time\n`);
  await addWal(segment(2, 2), '14:00:00');
  await addWal(segment(2, 3), '15:00:00');
  const newest = await addBackup('14:30:00', { timeline: 2, number: 2 });
  return { first, abandoned, newest };
}

test('a WAL file is archived once, with its time, and never overwritten by a different one', async () => {
  await addWal(segment(1, 1), '10:00:00');
  await addWal(segment(1, 1), '10:00:00');
  await assert.rejects(addWal(segment(1, 1), '11:00:00', 'of another copy'), /exists and is different: another copy/);
  const path = join(archive, `${segment(1, 1)}.zst`);
  assert.equal((await stat(path)).mtime.toISOString(), '2026-11-18T10:00:00.000Z');
  await assert.rejects(addWal('../elsewhere', '10:00:00'), /is not the name of a WAL file/);
  assert.deepEqual(await readdir(archive), [`${segment(1, 1)}.zst`]);
});

test('a draft that a killed process has left is no archived file, and is replaced', async () => {
  await addWal(segment(1, 1), '10:00:00');
  await writeFile(join(archive, `${segment(1, 2)}.zst.new`), 'half');
  assert.deepEqual(await archivedNames(archive), [segment(1, 1)]);
  await addWal(segment(1, 2), '10:00:00');
  assert.deepEqual(await readdir(archive), [`${segment(1, 1)}.zst`, `${segment(1, 2)}.zst`]);
});

test('what the server has marked is archived, histories first, and a failure leaves the mark', async () => {
  const database = join(folder, 'database');
  const status = join(database, 'pg_wal/archive_status');
  await mkdir(status, { recursive: true });
  for (const name of [segment(1, 4), '00000002.history']) {
    await writeFile(join(database, 'pg_wal', name), name);
    await writeFile(join(status, `${name}.ready`), '');
  }
  await writeFile(join(status, `${segment(1, 3)}.ready`), '');
  await addWal(segment(1, 4), '10:00:00', 'of another copy');
  const failed = await archiveWaiting(database, archive);
  assert.match(failed.failure?.message ?? '', /exists and is different/);
  assert.deepEqual((await readdir(status)).sort(), ['00000002.history.done', `${segment(1, 4)}.ready`].sort());
  await rm(join(archive, `${segment(1, 4)}.zst`));
  const passed = await archiveWaiting(database, archive);
  assert.deepEqual(passed, { archived: 1, abandoned: [], failure: undefined });
  assert.deepEqual(await archivedNames(archive), [segment(1, 4), '00000002.history'].sort());
});

test('WAL files that are given up one after the other are one failure, which names the files', () => {
  const [one, other] = [1, 2].map((number) => {
    const pass = { archived: 0, abandoned: [segment(1, number)], failure: new Error('The disk is almost full.') };
    return failureOf(pass) ?? assert.fail();
  });
  assert.equal(one?.what, other?.what);
  assert.equal(other?.error.message, `The disk is almost full. (${segment(1, 2)})`);
  assert.equal(failureOf({ archived: 1, abandoned: [], failure: undefined }), undefined);
});

test('a time is restored from the newest backup before it, up to the last archived change', async () => {
  const first = await addBackup('09:00:00');
  await addWal(segment(1, 2), '10:00:00');
  const second = await addBackup('11:00:00', { number: 3 });
  await addWal(segment(1, 4), '12:00:00');
  assert.equal((await chooseBackup(folder, at('09:30:00'))).name, first);
  assert.equal((await chooseBackup(folder, at('11:30:00'))).name, second);
  assert.equal((await chooseBackup(folder, undefined)).name, second);
  await assert.rejects(
    chooseBackup(folder, at('08:00:00')),
    /it is before the first backup, with which .*T09:00:00.000Z/,
  );
  await assert.rejects(chooseBackup(folder, at('12:00:01')), /the last archived change is of .*T12:00:00.000Z/);
  await assert.rejects(
    chooseBackup(folder, at('10:30:00')),
    /10:30:00.000Z cannot be restored: the nearest times that can are .*T10:00:00.000Z and .*T11:00:00.000Z/,
  );
  await assert.rejects(chooseBackup(join(folder, first), at('11:30:00')), /the last archived change is of .*T10:00:00/);
});

test('a missing WAL file ends the time that can be restored', async () => {
  await addBackup('09:00:00');
  await addWal(segment(1, 2), '10:00:00');
  await addWal(segment(1, 4), '12:00:00');
  assert.equal((await listReach(folder))[0]?.until.toString(), '2026-11-18T10:00:00Z');
  assert.equal(await hasGap(folder), true);
  await addBackup('11:00:00', { number: 3 });
  assert.equal(await hasGap(folder), false);
});

test('without the copy that begins a timeline, its later WAL is out of reach', async () => {
  const { first, newest } = await addRestoredDatabase();
  await rm(join(folder, newest), { recursive: true });
  await rm(join(archive, `${segment(2, 2)}.zst`));
  const { name, timeline, following } = await chooseBackup(folder, undefined);
  assert.deepEqual([name, timeline.id, namesOf(following)], [first, 2, [segment(1, 2)]]);
  await assert.rejects(chooseBackup(folder, at('14:15:00')), /the last archived change is of .*T13:00:00/);
});

test('after a restore each time leads to the state that the service had then', async () => {
  const { first, abandoned, newest } = await addRestoredDatabase();
  const reach = async (time: string) => {
    const { name, timeline } = await chooseBackup(folder, at(time));
    return [name, timeline.id];
  };
  assert.deepEqual(await reach('10:30:00'), [first, 1]);
  assert.deepEqual(await reach('12:30:00'), [abandoned, 1]);
  assert.deepEqual(await reach('14:15:00'), [first, 2]);
  assert.deepEqual(await reach('14:45:00'), [newest, 2]);
  assert.equal(await hasGap(folder), false);
  // The service did not run between the last archived change and the restore.
  await assert.rejects(chooseBackup(folder, at('13:15:00')), /T13:00:00.000Z and .*T13:30:00.000Z/);
});

test('what an abandoned database goes on writing after the restore is not restored', async () => {
  const { abandoned } = await addRestoredDatabase();
  await addWal(segment(1, 5), '16:00:00');
  await assert.rejects(chooseBackup(folder, at('15:30:00')), /the last archived change is of .*T15:00:00/);
  assert.equal((await chooseBackup(folder, at('13:20:00'))).name, abandoned);
});

test('without a time, a backup of an abandoned timeline is not the last state', async () => {
  const { first, newest } = await addRestoredDatabase();
  assert.equal((await chooseBackup(folder, undefined)).name, newest);
  await rm(join(folder, newest), { recursive: true });
  const { name, timeline, following } = await chooseBackup(folder, undefined);
  assert.deepEqual([name, timeline.id], [first, 2]);
  assert.deepEqual(namesOf(following), [segment(1, 2), segment(2, 2), segment(2, 3)]);
});

test('pruning keeps all WAL that a kept backup needs, also of a timeline with lower numbers', async () => {
  const { first, abandoned, newest } = await addRestoredDatabase();
  const result = await pruneBackups(folder, 2);
  assert.deepEqual([result.removed, result.kept], [[first], [abandoned, newest]]);
  assert.ok((await archivedNames(archive)).includes(segment(2, 2)));
  assert.equal((await pruneBackups(folder, 1)).removed[0], abandoned);
  assert.equal((await chooseBackup(folder, at('14:45:00'))).name, newest);
});

test('pruning removes WAL only below the oldest kept backup, and what killed commands have left', async () => {
  await addBackup('09:00:00', { number: 2 });
  await addBackup('10:00:00', { number: 4 });
  for (const number of [1, 2, 3, 4, 5]) await addWal(segment(1, number), '10:00:00');
  for (const left of ['.new-20261118T110000Z', '.removed-20261117T110000Z']) await mkdir(join(folder, left));
  assert.equal((await pruneBackups(folder, 2)).wal_removed, 1);
  assert.equal((await pruneBackups(folder, 1)).wal_removed, 2);
  assert.deepEqual(await archivedNames(archive), [segment(1, 4), segment(1, 5)]);
  assert.deepEqual((await readdir(folder)).sort(), ['20261118T100000Z', `wal-${SYSTEM}`]);
});

test('a folder belongs to one installation and one database until it is taken over', async () => {
  const [one, other] = ['one', 'other'].map((name) => join(folder, name)) as [string, string];
  await Promise.all([mkdir(one), mkdir(other)]);
  const claim = (dataDir: string, systemIdentifier = SYSTEM) => claimFolder(folder, { dataDir, systemIdentifier });
  await assert.rejects(takeOverFolder(folder, one), /nothing to take over/);
  await claim(one);
  await claim(one);
  await assert.rejects(claim(one, '8'), /has the backups of another database, of .*one on .*Use another folder/);
  await assert.rejects(claim(other), /another installation, in .*one on .*run "case-records backup take-over" first/);
  await takeOverFolder(folder, other);
  await claim(other);
  await assert.rejects(claim(one), /another installation, in .*other/);
  assert.equal(JSON.parse(await readFile(join(folder, 'used-by.json'), 'utf8')).data_dir, other);
});

test('a database from before a restore, whose folder was put back, cannot write where the restored one has gone on', async () => {
  const ofTimeline = (timeline: number) => assertNewestTimeline(folder, { systemIdentifier: SYSTEM, timeline });
  await ofTimeline(1);
  await addRestoredDatabase();
  await ofTimeline(2);
  await assert.rejects(ofTimeline(1), /that a restore made of this one \(timeline 2; this is 1\).*Use another folder/);
});

test('such a database is also known by the backups of the restored one, if no WAL is archived', async () => {
  const ofTimeline = (timeline: number) => assertNewestTimeline(folder, { systemIdentifier: SYSTEM, timeline });
  await addBackup('09:00:00', { timeline: 1 });
  await addBackup('11:00:00', { timeline: 3, system: '8' });
  await ofTimeline(1);
  await addBackup('10:00:00', { timeline: 2 });
  await ofTimeline(2);
  await assert.rejects(ofTimeline(1), /that a restore made of this one \(timeline 2; this is 1\)/);
  await writeFile(join(folder, '20261118T100000Z', 'manifest.json'), '{');
  await ofTimeline(1);
});

test('a folder with backups of several databases restores only a backup that is named', async () => {
  const mine = await addBackup('09:00:00');
  await addBackup('10:00:00', { system: '8' });
  await assert.rejects(chooseBackup(folder, undefined), /has backups of several databases\. Name one backup: 2026/);
  assert.equal((await chooseBackup(join(folder, mine), undefined)).name, mine);
});
