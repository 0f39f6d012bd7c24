import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runSimulatedYear } from '../test/harness/simulated-year.ts';

/** Simulates a year of messages with both DST changes. SEED repeats a run; APPOINTMENTS makes it shorter. */

const appointments = Number(process.env.APPOINTMENTS ?? 2_000);
const kills = Math.ceil(appointments / 50);
const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));

test(`a year of ${appointments} appointments, four workers, some killed while they send (SEED=${seed})`, async (t) => {
  const options = { seed, appointments, from: '2026-01-05T08:00:00Z', days: 365, workers: 4, kills };
  const result = await runSimulatedYear(options);
  t.diagnostic(JSON.stringify({ seed, ...result }));
  assert.equal(result.kills, options.kills);
  if (appointments >= 1_000) assert.ok(result.overClockChange > 0);
});
