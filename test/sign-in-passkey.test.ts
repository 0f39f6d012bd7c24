import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { startApp } from './harness/app.ts';
import { assertProblem, assertRefused, ok } from './harness/assert.ts';
import { Authenticator } from './harness/authenticator.ts';
import { browserOf, cookiesOf, type Person, secretOf, signIn } from './harness/people.ts';

const app = await startApp({ publicUrl: 'http://localhost:8080' });
// Failures are counted per minute and address.
beforeEach(() => app.clock.advance({ minutes: 1 }));
const company = await app.company();
const stranger = browserOf(app, undefined);
const ORIGIN = 'http://localhost:8080';

const optionsOf = async (answer: Promise<{ status: number; body: { options: never }; text: string }>) =>
  (await ok(answer as never)).options;
const registerOptions = (person: Person) => optionsOf(person.post('/account/passkeys/options'));
const signInOptions = () => optionsOf(stranger.post('/sign-in/passkey/options', {}));
const attempt = (response: object) => stranger.post('/sign-in/passkey', { response });

async function withPasskey(purpose: 'full' | 'enrolment' = 'enrolment') {
  const person = await signIn(app, company, { purpose });
  const device = new Authenticator();
  const response = device.register(await registerOptions(person), ORIGIN);
  const answer = await person.post('/account/passkeys', { name: 'Phone', response });
  assert.equal(answer.status, 200, answer.text);
  const secret = secretOf(cookiesOf(answer)) ?? person.secret;
  return { person: { ...person, ...browserOf(app, secret) }, device, answer, response };
}

test('a first passkey makes an invited user active, gives recovery codes, and begins a full session', async () => {
  const { person, answer } = await withPasskey();
  assert.equal(answer.body.recovery_codes.length, 10);
  assert.deepEqual([answer.body.account.state, answer.body.account.passkeys[0].name], ['active', 'Phone']);
  const { session } = await ok(person.get('/session'));
  assert.deepEqual([session.purpose, session.method], ['full', 'passkey']);
  const events: { type: string; actor: { id: string } }[] = await ok(
    company.get(`/manage/users/${person.userId}/history`),
  );
  assert.deepEqual(
    events.slice(-3).map(({ type }) => type),
    ['user.passkey_added', 'user.recovery_codes_created', 'user.activated'],
  );
  assert.equal(events.at(-1)?.actor.id, person.userId);
});

test('a passkey alone signs in, without an address', async () => {
  const { person, device } = await withPasskey();
  const answer = await attempt(device.signIn(await signInOptions(), ORIGIN));
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.body.user.id, person.userId);
  const again = browserOf(app, secretOf(cookiesOf(answer)));
  assert.ok((await ok(again.get('/account'))).passkeys[0].last_used_at);
});

test('an answer of a passkey is accepted once', async () => {
  const { device } = await withPasskey();
  const response = device.signIn(await signInOptions(), ORIGIN);
  await ok(attempt(response));
  assertProblem(await attempt(response), 401, 'sign_in_failed');
});

test('an answer is accepted once also if it comes twice concurrently', async () => {
  const { device } = await withPasskey();
  const response = device.signIn(await signInOptions(), ORIGIN);
  const statuses = (await Promise.all([attempt(response), attempt(response)])).map(({ status }) => status);
  assert.deepEqual(statuses.sort(), [200, 401]);
});

test('a replayed challenge is refused also if the authenticator has no counter', async () => {
  const { device } = await withPasskey();
  const options = await signInOptions();
  device.counter = -1;
  const response = device.signIn(options, ORIGIN);
  await ok(attempt(response));
  device.counter = -1;
  assertProblem(await attempt(device.signIn(options, ORIGIN)), 401, 'sign_in_failed');
  device.counter = -1;
  await ok(attempt(device.signIn(await signInOptions(), ORIGIN)));
});

test('a copy of an authenticator, whose counter is behind, is refused', async () => {
  const { device } = await withPasskey();
  device.counter = 10;
  await ok(attempt(device.signIn(await signInOptions(), ORIGIN)));
  device.counter = 5;
  assertProblem(await attempt(device.signIn(await signInOptions(), ORIGIN)), 401, 'sign_in_failed');
});

for (const [what, origin] of Object.entries({
  'another site': 'https://evil.example',
  'a sibling subdomain': 'http://evil.localhost:8080',
  'another port': 'http://localhost:8081',
  'the same host over https': 'https://localhost:8080',
})) {
  test(`an answer that was given on ${what} is refused, at the sign-in and at the registration`, async () => {
    const { person, device } = await withPasskey('full');
    assertProblem(await attempt(device.signIn(await signInOptions(), origin)), 401, 'sign_in_failed');
    const response = new Authenticator().register(await registerOptions(person), origin);
    const answer = await person.post('/account/passkeys', { name: 'Phone', response });
    assert.equal(answer.body.errors?.[0].field, 'response', answer.text);
  });
}

test('an answer for another relying party is refused', async () => {
  const { device } = await withPasskey();
  const options = { ...((await signInOptions()) as object), rpId: 'evil.example' } as never;
  assertProblem(await attempt(device.signIn(options, ORIGIN)), 401, 'sign_in_failed');
});

test('a device that has not checked who holds it is refused', async () => {
  const { person, device } = await withPasskey('full');
  assertProblem(await attempt(device.signIn(await signInOptions(), ORIGIN, 0x01)), 401, 'sign_in_failed');
  const response = new Authenticator().register(await registerOptions(person), ORIGIN, 0x41);
  assert.equal((await person.post('/account/passkeys', { name: 'Phone', response })).status, 400);
});

test('a challenge is valid for five minutes, and only for what it was made for', async () => {
  const { person, device } = await withPasskey('full');
  const old = await signInOptions();
  app.clock.advance({ minutes: 5, seconds: 1 });
  assertProblem(await attempt(device.signIn(old, ORIGIN)), 401, 'sign_in_failed');
  const fresh = await signIn(app, company);
  const forRegistration: { challenge: string } = await registerOptions(fresh);
  const options = { rpId: 'localhost', challenge: forRegistration.challenge } as never;
  assertProblem(await attempt(device.signIn(options, ORIGIN)), 401, 'sign_in_failed');
  // A challenge of another person, or one that the service did not make.
  const other = await signIn(app, company);
  for (const challenge of [forRegistration.challenge, Buffer.alloc(42).toString('base64url')]) {
    const mine = { ...((await registerOptions(other)) as object), challenge } as never;
    const response = new Authenticator().register(mine, ORIGIN);
    assert.equal((await other.post('/account/passkeys', { name: 'Phone', response })).status, 400);
  }
  assert.ok(person.userId);
});

test('a forged signature, and the passkey of a disabled user, are refused alike', async () => {
  const { person, device } = await withPasskey();
  await signIn(app, company);
  const response = device.signIn(await signInOptions(), ORIGIN);
  const signature = Buffer.from(response.response.signature, 'base64url');
  signature[signature.length - 1] = (signature.at(-1) ?? 0) ^ 1;
  const forged = { ...response, response: { ...response.response, signature: signature.toString('base64url') } };
  const answers = [await attempt(forged), await attempt(new Authenticator().signIn(await signInOptions(), ORIGIN))];
  await ok(company.patch(`/manage/users/${person.userId}`, { role: 'reader' }));
  await ok(company.post(`/manage/users/${person.userId}/disable`));
  answers.push(await attempt(device.signIn(await signInOptions(), ORIGIN)));
  for (const { status, body } of answers) {
    assert.deepEqual([status, body.detail], [401, answers[0]?.body.detail]);
  }
});

test('a credential whose name is shorter than WebAuthn allows is a fault of the form', async () => {
  const person = await signIn(app, company, { purpose: 'enrolment' });
  const response = new Authenticator({ idBytes: 15 }).register(await registerOptions(person), ORIGIN);
  const answer = await person.post('/account/passkeys', { name: 'Phone', response });
  assertRefused(answer, { response: 'not_allowed' });
});

for (const transports of ['internal', { 0: 'usb' }, [1, null, 'usb'], null]) {
  test(`a passkey whose browser tells its transports as ${JSON.stringify(transports)} is added`, async () => {
    const person = await signIn(app, company, { purpose: 'enrolment' });
    const registered = new Authenticator().register(await registerOptions(person), ORIGIN);
    const response = { ...registered, response: { ...registered.response, transports } };
    await ok(person.post('/account/passkeys', { name: 'Phone', response }));
  });
}

test('a passkey belongs to one user', async () => {
  const { device, response } = await withPasskey('full');
  const other = await signIn(app, company);
  const stolen = device.register(await registerOptions(other), ORIGIN);
  assert.equal((await other.post('/account/passkeys', { name: 'Mine', response: stolen })).status, 400);
  assert.equal((await other.post('/account/passkeys', { name: 'Mine', response })).status, 400);
});

test('the last passkey stays; another one ends the other sessions and can be removed', async () => {
  const { person, answer } = await withPasskey('full');
  const [first] = answer.body.account.passkeys;
  const removal = await person.delete(`/account/passkeys/${first.id}`);
  assert.deepEqual([removal.status, removal.body.errors[0].field], [400, 'passkeys']);
  const response = new Authenticator().register(await registerOptions(person), ORIGIN);
  await ok(person.post('/account/passkeys', { name: 'Laptop', response }));
  const { account } = await ok(person.delete(`/account/passkeys/${first.id}`));
  assert.deepEqual(
    account.passkeys.map(({ name }: { name: string }) => name),
    ['Laptop'],
  );
  const stranger2 = await signIn(app, company);
  assert.equal((await stranger2.delete(`/account/passkeys/${account.passkeys[0].id}`)).status, 404);
});

for (const response of [{}, { id: 7 }, { id: 'x', response: { clientDataJSON: 'e30' } }, { response: null }]) {
  test(`a malformed answer is refused: ${JSON.stringify(response)}`, async () => {
    assertProblem(await attempt(response), 401, 'sign_in_failed');
    const person = await signIn(app, company);
    assert.equal((await person.post('/account/passkeys', { name: 'x', response })).status, 400);
  });
}

test('options that nobody answers leave no row', async () => {
  const count = async () => (await app.sql<{ n: number }>('SELECT count(*)::int AS n FROM used_challenges'))[0]?.n;
  const before = await count();
  for (let i = 0; i < 20; i++) await signInOptions();
  assert.equal(await count(), before);
});
