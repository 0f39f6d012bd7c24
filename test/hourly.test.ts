import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pino } from 'pino';
import { hourly } from '../src/kernel/hourly.ts';

const HOUR_MS = 3_600_000;
const settled = () => new Promise(setImmediate);

test('it works now and every hour, and what fails once is tried again', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const lines: string[] = [];
  const logger = pino({ level: 'warn' }, { write: (line: string) => lines.push(line) });
  let begun = 0;
  const stop = hourly(
    async () => {
      begun++;
      if (begun === 2) throw new Error('away');
    },
    logger,
    'it could not be done',
  );
  await settled();
  assert.equal(begun, 1);
  for (const expected of [2, 3]) {
    t.mock.timers.tick(HOUR_MS);
    await settled();
    assert.equal(begun, expected);
  }
  assert.match(lines.join(), /it could not be done/);
  await stop();
  t.mock.timers.tick(HOUR_MS);
  await settled();
  assert.equal(begun, 3);
});

test('it is never under way twice, and whoever ends it is not kept waiting by what is left to do', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  let begun = 0;
  const work = async (signal: AbortSignal) => {
    begun++;
    while (!signal.aborted) await settled();
  };
  const stop = hourly(work, pino({ level: 'silent' }), '');
  t.after(stop);
  t.mock.timers.tick(HOUR_MS);
  await settled();
  assert.equal(begun, 1);
  await stop();
  assert.equal(begun, 1);
});
