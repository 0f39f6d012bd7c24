import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { test } from 'node:test';
import { printed, watch } from '../harness/service.ts';
import { within } from '../harness/until.ts';

/** The waits of the tests end: with what was waited for, or with a failure that names it. */

const program = (source: string) => watch(spawn(process.execPath, ['-e', source]));

test('a promise that stays open fails the wait, with its description', async () => {
  await assert.rejects(
    within(new Promise(() => {}), 'the answer', 20),
    /^Error: waited 0\.02 s in vain for the answer$/,
  );
  assert.equal(await within(Promise.resolve('answer'), 'the answer', 20), 'answer');
});

test('a line that was printed before the wait is found', async () => {
  const ended = program('console.log("first"); console.error("second")');
  assert.equal(await ended.ended(), 0);
  assert.equal((await printed(ended, /^fir(st)$/m))[1], 'st');
  assert.equal((await printed(ended, /^second$/m))[0], 'second');
});

test('the end of a process fails the wait for its line, with its output', async () => {
  await assert.rejects(
    printed(program('console.error("a reason"); process.exit(3)'), /never/),
    /The process ended with 3:\na reason/,
  );
});

test('the code of a process that has ended already is returned', async () => {
  const process = program('process.exit(4)');
  assert.equal(await process.ended(), 4);
  assert.equal(await process.ended(), 4);
});
