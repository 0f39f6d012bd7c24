import assert from 'node:assert/strict';
import { test } from 'node:test';
import { holds, Skipped } from '../../chaos/proof.ts';
import { PROOFS } from '../../chaos/proofs.ts';

/** The short form of every proof that has no test of its own. */

const ELSEWHERE = new Set(['retries', 'messages', 'webhooks', 'input', 'apart']);

for (const proof of PROOFS) {
  if (ELSEWHERE.has(proof.name)) continue;
  const seed = Number(process.env.SEED ?? 20261115);
  test(`${proof.name}: ${proof.about} (SEED=${seed})`, async (t) => {
    try {
      const figures = await proof.run({ seed, short: true, progress: () => {} });
      for (const note of [...figures.notes, ...figures.late]) t.diagnostic(note);
      // No times are judged here: they are the machine's.
      assert.ok(holds({ ...figures, late: [] }), JSON.stringify(figures, null, 2));
    } catch (error) {
      if (!(error instanceof Skipped)) throw error;
      t.skip(error.message);
    }
  });
}
