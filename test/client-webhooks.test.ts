import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { test } from 'node:test';
import {
  verifyWebhook,
  type WebhookEvent,
  type WebhookHeaders,
  type WebhookOptions,
  WebhookVerificationError,
} from '../packages/client/src/index.ts';

/** The signature of a webhook, as its receiver verifies it. */

const SECRET = 'whsec_current';
const OLD_SECRET = 'whsec_old';
const SIGNED = 1_780_304_400;
const BODY = '{"id":"e1","type":"interaction.created","notes":"Grüße 👋"}';

const hmac = (secret: string, body: string | Uint8Array, timestamp: string | number = SIGNED) =>
  createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest('hex');
const RIGHT = hmac(SECRET, BODY);
const given = (changes: Partial<WebhookOptions> = {}): WebhookOptions => ({
  body: BODY,
  signature: `t=${SIGNED},v1=${RIGHT}`,
  secrets: [SECRET],
  now: () => SIGNED * 1000,
  ...changes,
});
const refused = (code: string, changes: Partial<WebhookOptions>) =>
  assert.rejects(verifyWebhook(given(changes)), (error: unknown) => {
    assert.ok(error instanceof WebhookVerificationError, String(error));
    assert.equal(error.code, code);
    return true;
  });

test('what is signed with the secret gives the event and the time', async () => {
  const { event, signedAt } = await verifyWebhook<{ type: string }>(given());
  assert.equal(event.type, 'interaction.created');
  assert.deepEqual(signedAt, new Date(SIGNED * 1000));
});

// printf '1780304400.{}' | openssl dgst -sha256 -hmac secret
const PINNED = 't=1780304400,v1=e465ba91f2a194e5982bd18cf3082fa53062decd3c5014bd04926155c684e5f2';

test('the form of the signature is this, and stays so', async () => {
  await verifyWebhook(given({ body: '{}', secrets: ['secret'], signature: PINNED }));
});

for (const [what, body] of [
  ['bytes', Buffer.from(BODY)],
  ['an array buffer', new TextEncoder().encode(BODY).buffer],
] as const) {
  test(`the body may be ${what}`, async () => {
    assert.equal((await verifyWebhook<{ id: string }>(given({ body }))).event.id, 'e1');
  });
}

const SIGNATURE = `t=${SIGNED},v1=${RIGHT}`;
const ofNode: IncomingHttpHeaders = { host: 'receiver.example', 'webhook-signature': SIGNATURE };

for (const [what, headers] of [
  ['of Node', ofNode],
  ['of fetch', new Headers({ 'Webhook-Signature': SIGNATURE })],
  ['in a record, with the letters that were sent', { 'Webhook-Signature': SIGNATURE }],
  ['in a record of lists', { 'webhook-signature': [SIGNATURE] }],
] as [string, WebhookHeaders][]) {
  test(`the headers may be those ${what}`, async () => {
    const { signature: _, ...options } = given() as WebhookOptions & { signature: unknown };
    await verifyWebhook({ ...options, headers });
  });
}

test('a header that Node shows as a list is taken as it is', async () => {
  await verifyWebhook(given({ signature: [`t=${SIGNED}`, `v1=${RIGHT}`] }));
});

for (const headers of [{}, new Headers(), { 'webhook-id': 'e1' }]) {
  test(`${headers.constructor.name} without a signature is refused (${Object.keys(headers)})`, async () => {
    const { signature: _, ...options } = given() as WebhookOptions & { signature: unknown };
    await assert.rejects(verifyWebhook({ ...options, headers }), { code: 'malformed_signature' });
  });
}

test('the type of an event tells the compiler what its record is', () => {
  const told = (event: WebhookEvent): string | null => {
    switch (event.type) {
      case 'ping':
        return event.endpoint_id;
      case 'invoice.payment_recorded':
        return `${event.record.type} ${event.before.outstanding - event.after.outstanding}`;
      case 'interaction.created':
        // @ts-expect-error: a type of interaction that does not exist
        if (event.after.type === 'telegram') return null;
        return event.before ?? event.after.notes;
      default:
        // @ts-expect-error: the other records have no such field in common
        return event.after.notes ?? null;
    }
  };
  const invoice = (outstanding: number) => ({ outstanding });
  const event = { type: 'invoice.payment_recorded', record: { type: 'invoice', id: '1' } };
  assert.equal(told({ ...event, before: invoice(3), after: invoice(1) } as unknown as WebhookEvent), 'invoice 2');
});

test('during a change of secrets either side may be ahead', async () => {
  const both = `t=${SIGNED},v1=${hmac(OLD_SECRET, BODY)},v1=${RIGHT}`;
  for (const changes of [
    { signature: both },
    { signature: both, secrets: [OLD_SECRET] },
    { secrets: [OLD_SECRET, SECRET] },
    { secrets: [SECRET, OLD_SECRET] },
  ]) {
    await verifyWebhook(given(changes));
  }
});

for (const [what, changes] of [
  ['a wrong secret', { secrets: [OLD_SECRET] }],
  ['a secret in other letters', { secrets: [SECRET.toUpperCase()] }],
  ['a body that was changed by one letter', { body: BODY.replace('e1', 'e2') }],
  ['a body that was parsed and written again', { body: JSON.stringify(JSON.parse(BODY), null, 1) }],
  ['a body with something after it', { body: `${BODY}\n` }],
  ['another time than the signed one', { signature: `t=${SIGNED + 1},v1=${RIGHT}` }],
  [
    'a signature of the body alone',
    { signature: `t=${SIGNED},v1=${createHmac('sha256', SECRET).update(BODY).digest('hex')}` },
  ],
] as [string, Partial<WebhookOptions>][]) {
  test(`${what} is refused`, () => refused('wrong_signature', changes));
}

test('a signature is right to its last digit, and no digit before that helps', async () => {
  for (const [i, digit] of [...RIGHT].entries()) {
    const other = RIGHT.slice(0, i) + (digit === '0' ? '1' : '0') + RIGHT.slice(i + 1);
    await refused('wrong_signature', { signature: `t=${SIGNED},v1=${other}` });
  }
});

for (const [what, signature] of [
  ['no header', undefined],
  ['no header, as browsers say it', null],
  ['an empty header', ''],
  ['no time', `v1=${RIGHT}`],
  ['an empty time', `t=,v1=${RIGHT}`],
  ['a time that is no number', `t=1e9,v1=${RIGHT}`],
  ['two times', `t=${SIGNED},t=${SIGNED},v1=${RIGHT}`],
  ['no signature', `t=${SIGNED}`],
  ['an empty signature', `t=${SIGNED},v1=`],
  ['the beginning of the right signature', `t=${SIGNED},v1=${RIGHT.slice(0, 32)}`],
  ['the right signature with more after it', `t=${SIGNED},v1=${RIGHT}00`],
  ['the right signature under another version', `t=${SIGNED},v0=${RIGHT}`],
  ['something that is not hexadecimal', `t=${SIGNED},v1=${'z'.repeat(64)}`],
] as const) {
  test(`a header with ${what} is refused`, () => refused('malformed_signature', { signature }));
}

test('blanks and what is of a version to come are no hindrance', async () => {
  await verifyWebhook(given({ signature: `t=${SIGNED}, v2=x, v1=${RIGHT}, kid=7` }));
});

test('five minutes are tolerated in both directions, and not a second more', async () => {
  const after = (seconds: number) => () => (SIGNED + seconds) * 1000;
  for (const seconds of [300, -300]) await verifyWebhook(given({ now: after(seconds) }));
  await refused('too_old', { now: after(301) });
  await refused('too_new', { now: after(-301) });
  await verifyWebhook(given({ now: after(3_600), toleranceSeconds: 3_600 }));
  await refused('too_old', { now: after(11), toleranceSeconds: 10 });
});

test('the time is that of the machine if none is given', async () => {
  const { now: _, ...options } = given();
  const timestamp = Math.floor(Date.now() / 1000);
  await verifyWebhook({ ...options, signature: `t=${timestamp},v1=${hmac(SECRET, BODY, timestamp)}` });
  await assert.rejects(verifyWebhook({ ...options, signature: `t=1,v1=${hmac(SECRET, BODY, 1)}` }), {
    code: 'too_old',
  });
});

test('a forger learns nothing of the time: the signature is judged first', () =>
  refused('wrong_signature', { secrets: [OLD_SECRET], now: () => 0 }));

test('a body that is not JSON is refused even when it is signed', async () => {
  const bodies = ['not json', new Uint8Array([0x22, 0xff, 0x22])];
  for (const body of bodies) {
    await refused('malformed_body', { body, signature: `t=${SIGNED},v1=${hmac(SECRET, body)}` });
  }
});

for (const secrets of [[], [''], [SECRET, '']]) {
  test(`the secrets ${JSON.stringify(secrets)} are a mistake of the caller`, () =>
    assert.rejects(verifyWebhook(given({ secrets })), { name: 'TypeError' }));
}
