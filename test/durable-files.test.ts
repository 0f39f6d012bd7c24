import assert from 'node:assert/strict';
import { existsSync, readlinkSync } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { after, beforeEach, test } from 'node:test';
import { writeToOutbox } from '../src/cases/appointments/messages/outbox.ts';
import { writeDemo } from '../src/company/demo-file.ts';
import { makeDurableFolder, syncFolder, writeDurably } from '../src/kernel/durable-file.ts';
import { temporaryDirectory } from './harness/service.ts';

/** The order in which files and folders reach the disk; `npm run chaos -- --only power-cut` cuts the power. */

const data = await temporaryDirectory();
after(data.remove);

const ONLY_LINUX = process.platform === 'linux' ? false : 'only Linux tells which file a descriptor has';

/** What was synced, and which of the watched files had their names at that time. */
type Synced = { path: string; named: string[] };
let synced: Synced[] = [];
let watched: string[] = [];

const probe = await open(join(data.path, 'probe'), 'w');
const handles = Object.getPrototypeOf(probe) as FileHandle;
await probe.close();
const { sync } = handles;
handles.sync = async function observed(this: FileHandle) {
  const path = readlinkSync(`/proc/self/fd/${this.fd}`);
  synced.push({ path, named: watched.filter((file) => existsSync(file)) });
  await sync.call(this);
};
after(() => {
  handles.sync = sync;
});
beforeEach(() => {
  synced = [];
  watched = [];
});

/** Whether the file itself was synced before it got its name, and its folder afterwards. */
function assertDurable(file: string): void {
  const content = synced.findIndex(({ path, named }) => path === `${file}.new` && !named.includes(file));
  const name = synced.findIndex(({ path, named }) => path === dirname(file) && named.includes(file));
  assert.ok(content >= 0, `the content was not synced: ${JSON.stringify(synced)}`);
  assert.ok(name > content, `the name was not synced: ${JSON.stringify(synced)}`);
}

const due = Temporal.Instant.from('2026-06-01T09:00:00Z');

test('a message in the outbox is on the disk, with its name and the folders made for it', {
  skip: ONLY_LINUX,
}, async () => {
  const folder = join(data.path, 'new', 'outbox');
  const name = '2026-06-01T090000Z-m1.eml';
  watched = [join(folder, name)];
  assert.equal(await writeToOutbox(folder, { id: 'm1', due }, 'eml', 'content'), name);
  assertDurable(join(folder, name));
  for (const parent of [data.path, join(data.path, 'new')]) {
    assert.ok(
      synced.some(({ path }) => path === parent),
      `${parent} does not surely have its new entry`,
    );
  }
  assert.deepEqual(await readdir(folder), [name]);
  assert.equal(await readFile(join(folder, name), 'utf8'), 'content');
});

test('demo.json is on the disk with its name', { skip: ONLY_LINUX }, async () => {
  const file = join(data.path, 'demo.json');
  watched = [file];
  await writeDemo(file, {} as never);
  assertDurable(file);
});

test('a folder that a killed process made is synced by the next process, and then not again', {
  skip: ONLY_LINUX,
}, async () => {
  const folder = join(data.path, 'left');
  await mkdir(folder);
  for (const expected of [1, 0]) {
    synced = [];
    await makeDurableFolder(folder, { mode: 0o700 });
    assert.equal(synced.filter(({ path }) => path === data.path).length, expected);
  }
  await rm(folder, { recursive: true });
  synced = [];
  await makeDurableFolder(folder, { mode: 0o700 });
  assert.equal(synced.filter(({ path }) => path === data.path).length, 1, 'one that was removed is made again');
});

test('files written concurrently share the syncs of their folder, none of which begins before its file has its name', {
  skip: ONLY_LINUX,
}, async () => {
  const folder = join(data.path, 'shared');
  await mkdir(folder);
  watched = Array.from({ length: 100 }, (_, i) => join(folder, `${i}`));
  await Promise.all(
    watched.map(async (file) => {
      await writeDurably(file, 'x', { mode: 0o600 });
      assertDurable(file);
    }),
  );
  assert.ok(synced.filter(({ path }) => path === folder).length < 100);
});

test('a sync that fails is told to every writer that shares it, and the next one is tried afresh', async () => {
  const folder = join(data.path, 'missing');
  const first = syncFolder(folder);
  const second = syncFolder(folder);
  for (const sync of [first, second]) await assert.rejects(sync, { code: 'ENOENT' });
  await mkdir(folder);
  await syncFolder(folder);
});

test('a write that fails leaves the previous file as it was', async () => {
  const folder = join(data.path, 'kept');
  await mkdir(folder);
  const file = join(folder, 'file');
  await writeFile(file, 'previous');
  const failing = handles.sync;
  handles.sync = async () => {
    throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
  };
  try {
    await assert.rejects(writeDurably(file, 'next', { mode: 0o600 }), { code: 'ENOSPC' });
  } finally {
    handles.sync = failing;
  }
  assert.equal(await readFile(file, 'utf8'), 'previous');
});
