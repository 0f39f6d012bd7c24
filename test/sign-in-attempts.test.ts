import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { SecretBox } from '../src/kernel/secret-box.ts';
import { startApp } from './harness/app.ts';
import { assertProblem, assertRefused, ok } from './harness/assert.ts';
import { browserOf, codeAt, enrolWithPassword, PASSWORD } from './harness/people.ts';
import { lockRows } from './harness/row-lock.ts';

/** What counts as an attempt to sign in, and for whom. */

const app = await startApp({ secrets: new SecretBox([randomBytes(32)]), trustedProxies: ['127.0.0.1'] });
const company = await app.company();
const stranger = browserOf(app, undefined);
const PATH = '/sign-in/password';
let lastAddress = 0;
const from = (address = `198.51.100.${++lastAddress}`) => ({ 'x-forwarded-for': address });
const guess = (email: string, headers = from()) =>
  stranger.post(PATH, { email, password: 'a wrong password', code: '1' }, headers);
const statuses = (answers: readonly { status: number }[]) => answers.map(({ status }) => status);

async function guesses(count: number, email: string | (() => string), headers?: ReturnType<typeof from>) {
  const answers = [];
  for (let i = 0; i < count; i++) {
    answers.push(await guess(typeof email === 'string' ? email : email(), headers ?? from()));
  }
  return answers;
}

test('an attempt that is refused because too many passwords are being checked does not count', async () => {
  const emails = Array.from({ length: 80 }, (_, i) => `crowd-${i}@company.example`);
  const answers = await Promise.all(emails.map((email, i) => guess(email, from(`203.0.113.${i}`))));
  const refused = emails.filter((_, i) => answers[i]?.status === 503);
  assert.ok(refused.length > 0, statuses(answers).join());
  const [email = ''] = refused;
  assert.deepEqual(statuses(await guesses(6, email)), [401, 401, 401, 401, 401, 429]);
});

test('an attempt that one subject is refused takes none from the others', async () => {
  const address = from();
  let n = 0;
  await guesses(20, () => `many-${++n}@company.example`, address);
  // The address waits, and its attempts do not count for the account …
  for (let i = 0; i < 8; i++) assertProblem(await guess('spared@company.example', address), 429, 'too_many_attempts');
  assert.deepEqual(statuses(await guesses(6, 'spared@company.example')), [401, 401, 401, 401, 401, 429]);
  // … and those of an account that waits do not count for the address.
  await guesses(5, 'waits@company.example');
  const other = from();
  for (let i = 0; i < 25; i++) assertProblem(await guess('waits@company.example', other), 429, 'too_many_attempts');
  assertProblem(await guess('free@company.example', other), 401, 'sign_in_failed');
});

test('an attempt that a concurrent one delays takes nothing from its address', async () => {
  const email = 'rush@company.example';
  await guesses(4, email);
  const address = from();
  const lock = await lockRows(app, 'SELECT 1 FROM sign_in_attempts');
  const answers = [guess(email, address), guess(email, address)];
  await lock.waitedFor(answers.length);
  await lock.release();
  assert.deepEqual(statuses(await Promise.all(answers)).sort(), [401, 429]);
  const [row] = await app.sql<{ failures: number }>(
    'SELECT failures FROM sign_in_attempts WHERE key_sha256 = sha256($1)',
    [Buffer.from(`address\0${address['x-forwarded-for']}`)],
  );
  assert.equal(row?.failures, 1);
});

for (const [what, spellings] of Object.entries({
  'a dotted capital I': ['i', 'I', 'İ'],
  'the sign of the unit kelvin': ['k', 'K', '\u212a'],
  'a sigma at the end of a word': ['σ', 'Σ'],
})) {
  test(`spellings that mean the same account have one counter: ${what}`, async () => {
    const [plain = ''] = spellings;
    const [{ same = 0 } = {}] = await app.sql<{ same: number }>(
      'SELECT count(DISTINCT lower(s))::int AS same FROM unnest($1::text[]) s',
      [spellings],
    );
    const address = (spelling: string) => `one${spelling}@company.example`;
    for (let i = 0; i < 5; i++) await guess(address(spellings[i % spellings.length] ?? ''));
    // The database decides which addresses are the same, because it finds the account by that.
    assert.equal((await guess(address(plain))).status, same === 1 ? 429 : 401);
  });
}

test('guesses of the current password by a session are delayed', async () => {
  const person = await enrolWithPassword(app, company);
  const change = (current: string) =>
    person.send('PUT', '/account/password', { password: 'another walk in the hills', current_password: current });
  for (let i = 0; i < 5; i++) assertRefused(await change(`wrong ${i}`), { current_password: 'not_allowed' });
  const delayed = await change(PASSWORD);
  assertProblem(delayed, 429, 'too_many_attempts');
  assert.equal(delayed.headers['retry-after'], '2');
  app.clock.advance({ seconds: 2 });
  await ok(change(PASSWORD));
});

test('a person who signs in has failed no more', async () => {
  const person = await enrolWithPassword(app, company);
  await guesses(4, person.email);
  const body = { email: person.email, password: PASSWORD, code: codeAt(app, person.codeSecret) };
  await ok(stranger.post(PATH, body, from()));
  assert.deepEqual(statuses(await guesses(6, person.email)), [401, 401, 401, 401, 401, 429]);
});
