import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { within } from './harness/until.ts';

/** Lines are buffered before they are written, and none is lost. */

const LOG = new URL('../src/server/log.ts', import.meta.url).href;

const ENDS = {
  'is left to end by itself': '',
  'exits in the middle': 'process.exit(0)',
  'fails with an uncaught error': "setTimeout(() => { throw new Error('unexpected'); })",
};

for (const [how, end] of Object.entries(ENDS)) {
  test(`every line is written if the process ${how}`, async () => {
    const lines = `
      const { openLog } = await import(${JSON.stringify(LOG)});
      const log = openLog({ LOG_LEVEL: 'info', LOG_FORMAT: 'json' });
      for (let i = 0; i < 300; i++) log.info({ i }, 'line');
      ${end}`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', lines], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const [written] = await Promise.all([text(child.stdout), once(child, 'exit')]);
    const numbers = written
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).i as number);
    assert.deepEqual(
      numbers.toSorted((a, b) => a - b),
      Array.from({ length: 300 }, (_, i) => i),
    );
  });
}

test('a process whose output cannot be written ends', {
  skip: existsSync('/dev/full') ? false : 'There is no /dev/full.',
}, async (t) => {
  const lines = `
    const { openLog } = await import(${JSON.stringify(LOG)});
    process.on('uncaughtException', () => process.exit(3));
    openLog({ LOG_LEVEL: 'info', LOG_FORMAT: 'pretty' }).info('line');
    setInterval(() => {}, 1000);`;
  const full = await open('/dev/full', 'w');
  const child = spawn(process.execPath, ['--input-type=module', '-e', lines], { stdio: ['ignore', full.fd, 'ignore'] });
  t.after(() => child.kill('SIGKILL'));
  const ended = within(once(child, 'exit'), 'the end of the process', 20_000);
  await full.close();
  assert.deepEqual(await ended, [3, null]);
});
