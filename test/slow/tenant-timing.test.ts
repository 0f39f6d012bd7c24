import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RawConnection } from '../../chaos/input/raw-connection.ts';
import { fill } from '../harness/identifiers.ts';
import { app, neverWas, own, type Route, routes, stranger, theirs } from '../harness/tenant-isolation.ts';

// The name of a message is the same for every company, so it identifies no record of one.
const READS = routes.filter(
  ({ method, template, scopes, params }) =>
    method === 'GET' && /\}$/.test(template) && !scopes.includes('operator') && params.length > 0,
);
const ROUNDS = 150;
const MAX_MEASUREMENTS = 3;

const median = (times: number[]) => times.toSorted((a, b) => a - b)[times.length >> 1] ?? 0;

/** The median time of a foreign record, as a multiple of that of one that never existed. */
async function measureRatio({ template, params }: Route): Promise<number> {
  const connection = new RawConnection(app.baseUrl);
  const last = params.at(-1) ?? '';
  const ask = async (id: string) => {
    const path = fill(template, { ...own, [last]: id });
    const head = `GET ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n`;
    const bytes = Buffer.from(`${head}Authorization: Bearer ${stranger.token}\r\n\r\n`);
    const begun = performance.now();
    const answer = await connection.send({ bytes, headOnly: false, endsConnection: false });
    assert.equal(answer?.status, 404);
    return performance.now() - begun;
  };
  const times: Record<'foreign' | 'missing', number[]> = { foreign: [], missing: [] };
  for (let round = 0; round < ROUNDS; round++) {
    times.foreign.push(await ask(theirs[last] ?? ''));
    times.missing.push(await ask(neverWas(last)));
  }
  connection.close();
  return median(times.foreign) / median(times.missing);
}

for (const route of READS) {
  test(`${route.name}: a foreign record takes as long as one that never existed`, async () => {
    // On a loaded machine a single measurement may be off. A difference in the work of the service is in all of them.
    const ratios: number[] = [];
    for (let i = 0; i < MAX_MEASUREMENTS; i++) {
      const ratio = await measureRatio(route);
      if (ratio > 0.6 && ratio < 1.6) return;
      ratios.push(ratio);
    }
    assert.fail(`a foreign one takes ${ratios.map((ratio) => ratio.toFixed(2))} of the time of a missing one`);
  });
}
