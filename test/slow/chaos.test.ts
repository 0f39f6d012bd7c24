import assert from 'node:assert/strict';
import { test } from 'node:test';
import { passed, SkippedError } from '../../chaos/chaos-test.ts';
import { CHAOS_TESTS } from '../../chaos/chaos-tests.ts';

/** Runs the short form of every chaos test that has no test file of its own. */

const TESTED_ELSEWHERE = new Set(['retries', 'messages', 'webhooks', 'input', 'tenant-isolation']);

for (const chaosTest of CHAOS_TESTS) {
  if (TESTED_ELSEWHERE.has(chaosTest.name)) continue;
  const seed = Number(process.env.SEED ?? 20261115);
  test(`${chaosTest.name}: ${chaosTest.description} (SEED=${seed})`, async (t) => {
    try {
      const results = await chaosTest.run({ seed, short: true, progress: () => {} });
      for (const note of [...results.notes, ...results.timingFaults]) t.diagnostic(note);
      // The times are not checked, because they depend on the machine.
      assert.ok(passed({ ...results, timingFaults: [] }), JSON.stringify(results, null, 2));
    } catch (error) {
      if (!(error instanceof SkippedError)) throw error;
      t.skip(error.message);
    }
  });
}
