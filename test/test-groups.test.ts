import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { groupNames } from './harness/test-groups.ts';

test('each group of test files has a file that runs it', async () => {
  const folder = new URL('groups/', import.meta.url);
  const files = (await readdir(folder)).sort();
  assert.deepEqual(
    files,
    groupNames().map((name) => `${name}.ts`),
  );
  for (const file of files) {
    const source = await readFile(new URL(file, folder), 'utf8');
    assert.ok(source.includes(`runGroup('${file.slice(0, -'.ts'.length)}')`), file);
  }
});
