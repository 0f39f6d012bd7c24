import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runWebhookChaos } from '../test/harness/webhook-chaos.ts';

/** Simulates days of webhook deliveries with killed workers. SEED repeats a run; EVENTS makes it shorter. */

const events = Number(process.env.EVENTS ?? 2_000);
const kills = Math.ceil(events / 50);
const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));

test(`${events} events to two endpoints each, four workers, some killed while they send (SEED=${seed})`, async (t) => {
  const result = await runWebhookChaos({ seed, events, workers: 4, kills });
  t.diagnostic(JSON.stringify({ seed, ...result }));
  assert.equal(result.deliveries, 2 * events);
});
