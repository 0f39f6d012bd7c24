import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { SecretBox } from '../../src/kernel/secret-box.ts';
import { startApp } from '../harness/app.ts';
import { browserOf, enrolWithPassword, PASSWORD, signIn } from '../harness/people.ts';

/** The time of an answer must not tell whether an address has an account, nor whether the password was right. */

const ROUNDS = 40;
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

type Kind = { name: string; body: (round: number) => object };

/** Returns for each kind after the first in which share of the pairs it is slower than the first. */
async function measure(path: string, kinds: readonly Kind[]): Promise<number[]> {
  const times = kinds.map((): number[] => []);
  for (let round = 0; round < ROUNDS; round++) {
    // Delays must not make the answers fast.
    app.clock.advance({ minutes: 61 });
    for (let i = 0; i < kinds.length; i++) {
      const kind = (i + round) % kinds.length;
      times[kind]?.push(await timeOf(path, kinds[kind]?.body(round) ?? {}));
    }
  }
  const [first = [], ...others] = times;
  return others.map((other) => shareOfSlower(other, first));
}

const onlyPasskey = await signIn(app, company);
const wrong = { password: 'a wrong password', code: 'aaaaaa-aaaaaa-aaaaaa-aaaaaa' };
const CASES: Record<string, readonly Kind[]> = {
  '/sign-in/password': [
    { name: 'no account', body: (round) => ({ ...wrong, email: `nobody-${round}@company.example` }) },
    { name: 'an account', body: () => ({ ...wrong, email: person.email }) },
    { name: 'an account without a password', body: () => ({ ...wrong, email: onlyPasskey.email }) },
    { name: 'the right password', body: () => ({ ...wrong, email: person.email, password: PASSWORD }) },
  ],
  '/sign-in/recovery': [
    { name: 'no account', body: (round) => ({ email: `nobody-${round}@company.example` }) },
    { name: 'an account', body: () => ({ email: person.email }) },
  ],
};

for (const [path, kinds] of Object.entries(CASES)) {
  test(`${path} takes as long whatever is wrong`, async (t) => {
    for (const [i, share] of (await measure(path, kinds)).entries()) {
      const what = kinds[i + 1]?.name;
      t.diagnostic(`${what} is slower than ${kinds[0]?.name} in ${(share * 100).toFixed(1)} % of the pairs`);
      assert.ok(Math.abs(share - 0.5) < TOLERANCE, `${what}: ${share} differs from 0.5 by more than ${TOLERANCE}`);
    }
  });
}
