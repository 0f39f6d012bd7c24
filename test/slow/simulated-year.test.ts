import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runSimulatedYear } from '../harness/simulated-year.ts';

test('a month with a clock change, two workers, some killed while they send: every message once, at its time', async (t) => {
  const options = { seed: 20261025, appointments: 150, from: '2026-10-05T08:00:00Z', days: 31, workers: 2, kills: 3 };
  const result = await runSimulatedYear(options);
  t.diagnostic(JSON.stringify(result));
  assert.ok(result.sent > 150);
  assert.ok(result.cancellations.smsOnly > 0 && result.changesTold > 0 && result.calendarUpdates > 0);
  assert.equal(result.kills, options.kills);
});
