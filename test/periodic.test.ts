import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pino } from 'pino';
import { HOUR_MS, periodically } from '../src/kernel/periodic.ts';

const settled = () => new Promise(setImmediate);

test('the work is done now and in every period, also after it has failed once', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const lines: string[] = [];
  const logger = pino({ level: 'warn' }, { write: (line: string) => lines.push(line) });
  let begun = 0;
  const work = async () => {
    begun++;
    if (begun === 2) throw new Error('away');
  };
  const stop = periodically({ intervalMs: HOUR_MS, work, logger, failureMessage: 'it could not be done' });
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

test('the work is never done twice at the same time, and ending it does not wait for what is left to do', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  let begun = 0;
  const work = async (signal: AbortSignal) => {
    begun++;
    while (!signal.aborted) await settled();
  };
  const stop = periodically({ intervalMs: HOUR_MS, work, logger: pino({ level: 'silent' }), failureMessage: '' });
  t.after(stop);
  t.mock.timers.tick(HOUR_MS);
  await settled();
  assert.equal(begun, 1);
  await stop();
  assert.equal(begun, 1);
});
