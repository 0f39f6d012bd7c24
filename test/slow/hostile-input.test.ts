import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { test } from 'node:test';
import { sendInput } from '../../chaos/input/input.ts';
import { openInputWorld } from '../../chaos/input/input-world.ts';

/** The short form of `npm run chaos:input`. SEED repeats a run. */

const { world: app, log } = await openInputWorld();
const seed = Number(process.env.SEED ?? randomInt(2 ** 30));

test(`hostile requests to every operation: no failure, no hang, no answer that is not described (SEED=${seed})`, async (t) => {
  const { tally, faults, seconds } = await sendInput(app, { requests: 3_000, seed });
  t.diagnostic(`${tally.requests} requests in ${Math.round(seconds)} s, ${tally.readBack} read back`);
  assert.deepEqual(faults, []);
  assert.deepEqual(log.odd, [], 'a line of the log is about one request, and none tells of a failure');
  // What is refused at the door proves nothing of what lies behind it.
  const accepted = (tally.statuses.get('200') ?? 0) / tally.requests;
  assert.ok(accepted > 0.2, `only ${accepted} were accepted`);
  assert.ok(tally.readBack > 100 && tally.listed > 50);
});
