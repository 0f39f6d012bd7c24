import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sendWithRetries } from '../harness/retries.ts';

test('creates that are sent three times each over two processes, half of them cut off, are made once each', async () => {
  const { creates, records, cut } = await sendWithRetries(100);
  assert.equal(records, creates);
  assert.ok(cut > 0);
});
