import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runWebhookChaos } from '../harness/webhook-chaos.ts';

test('two workers, some killed while they send: every event to every endpoint, in order', async (t) => {
  const options = { seed: 20260601, events: 200, workers: 2, kills: 3 };
  const result = await runWebhookChaos(options);
  t.diagnostic(JSON.stringify(result));
  assert.equal(result.deliveries, 2 * options.events);
  assert.equal(result.kills, options.kills);
  assert.ok(result.resumed > 0);
});
