import assert from 'node:assert/strict';
import { availableParallelism } from 'node:os';
import { test } from 'node:test';
import { limitProcessorUse } from '../src/backup/processor-share.ts';

const SHARE = 0.25;
const ROUNDS = 20;
const ROUND_MS = 10;

test('a scheduled backup uses no more than its share of the processors', async () => {
  const wait = limitProcessorUse(SHARE);
  const [before, startedAt] = [process.cpuUsage(), performance.now()];
  for (let round = 0; round < ROUNDS; round++) {
    for (const until = performance.now() + ROUND_MS; performance.now() < until; );
    await wait();
  }
  const { user, system } = process.cpuUsage(before);
  const used = (user + system) / 1000 / (performance.now() - startedAt) / availableParallelism();
  assert.ok(used < SHARE * 1.1, `${used.toFixed(2)} of the processors`);
});
