import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { test } from 'node:test';
import { sendInput } from '../../chaos/input/input.ts';
import { startInputApp } from '../../chaos/input/input-app.ts';

/** The short form of `npm run chaos:input`. SEED repeats a run. */

const { app, log } = await startInputApp();
const seed = Number(process.env.SEED ?? randomInt(2 ** 30));

test(`hostile requests to every operation: no failure, no hang, no answer that is not described (SEED=${seed})`, async (t) => {
  const { counts, faults, seconds } = await sendInput(app, { requests: 3_000, seed });
  t.diagnostic(`${counts.requests} requests in ${Math.round(seconds)} s, ${counts.readBack} read back`);
  assert.deepEqual(faults, []);
  assert.deepEqual(log.unexpected, [], 'a line of the log is about one request, and none tells of a failure');
  // Requests that are refused early do not test the code behind.
  const accepted = (counts.statuses.get('200') ?? 0) / counts.requests;
  assert.ok(accepted > 0.2, `only ${accepted} were accepted`);
  assert.ok(counts.readBack > 100 && counts.listed > 50);
});
