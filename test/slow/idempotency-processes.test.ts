import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sendWithRetries } from '../harness/retries.ts';

test('writes of all kinds that are sent three times each over two processes, half of them cut off, are done once each', async () => {
  const { writes, performed, cut } = await sendWithRetries(180);
  assert.equal(performed, writes);
  assert.ok(cut > 0);
});
