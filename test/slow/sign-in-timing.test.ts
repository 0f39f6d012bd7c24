import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { SecretBox } from '../../src/kernel/secret-box.ts';
import { startApp } from '../harness/app.ts';
import { browserOf, enrolWithPassword } from '../harness/people.ts';

/** The time of an answer must not tell whether an address has an account. */

const ROUNDS = 150;
const app = await startApp({ secrets: new SecretBox([randomBytes(32)]), trustedProxies: ['127.0.0.1'] });
const company = await app.company();
const stranger = browserOf(app, undefined);
const person = await enrolWithPassword(app, company);
let address = 0;

const timeOf = async (path: string, body: object): Promise<number> => {
  address += 1;
  const headers = { 'x-forwarded-for': `10.1.${address >> 8}.${address & 255}` };
  const start = performance.now();
  await stranger.post(path, body, headers);
  return performance.now() - start;
};

/**
 * The share of pairs in which the first is slower: 0.5 if both have the same distribution. The machine may be busy, so
 * the two kinds alternate, and ranks are compared instead of means.
 */
function shareOfSlower(known: readonly number[], unknown: readonly number[]): number {
  let slower = 0;
  for (const one of known) for (const other of unknown) slower += one > other ? 1 : one === other ? 0.5 : 0;
  return slower / (known.length * unknown.length);
}

/** Four standard deviations of the share for this many rounds, if there is no difference. */
const TOLERANCE = 4 * Math.sqrt((2 * ROUNDS + 1) / (12 * ROUNDS * ROUNDS));

async function measure(path: string, bodyOf: (email: string) => object): Promise<number> {
  const times: Record<'known' | 'unknown', number[]> = { known: [], unknown: [] };
  for (let i = 0; i < ROUNDS; i++) {
    // Delays must not make both answers fast.
    app.clock.advance({ minutes: 61 });
    const emails = { known: person.email, unknown: `nobody-${i}@company.example` };
    for (const kind of i % 2 ? (['known', 'unknown'] as const) : (['unknown', 'known'] as const)) {
      times[kind].push(await timeOf(path, bodyOf(emails[kind])));
    }
  }
  return shareOfSlower(times.known, times.unknown);
}

for (const [path, bodyOf] of [
  ['/sign-in/password', (email: string) => ({ email, password: 'a wrong password', code: '000000' })],
  ['/sign-in/recovery', (email: string) => ({ email })],
] as const) {
  test(`${path} takes as long for an address without an account`, async (t) => {
    const share = await measure(path, bodyOf);
    t.diagnostic(`known addresses are slower in ${(share * 100).toFixed(1)} % of the pairs`);
    assert.ok(Math.abs(share - 0.5) < TOLERANCE, `${share} differs from 0.5 by more than ${TOLERANCE}`);
  });
}
