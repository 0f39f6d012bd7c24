import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InvalidValue } from '../src/kernel/errors.ts';
import { parseEndpointUrl } from '../src/webhooks/endpoints/endpoint-url.ts';
import { processorMs } from './harness/processor-time.ts';

/** Which hosts an endpoint can have: RFC 1123, and names that public name servers can resolve. */

const label = (length: number) => 'a'.repeat(length);
/** Four labels and three dots. */
const name = (length: number) => `${label(63)}.${label(63)}.${label(63)}.${label(length - 192)}`;

const codeOf = (host: string, privateAddresses: boolean): string => {
  try {
    parseEndpointUrl(`https://${host}/hooks`, privateAddresses);
    return 'accepted';
  } catch (error) {
    assert.ok(error instanceof InvalidValue, String(error));
    return error.code;
  }
};

for (const host of [
  'firm.example',
  'FIRM.example',
  'a.b',
  '1.firm.example',
  '3com.example',
  'x--y.example',
  'firm.example.',
  'firm.example:8443',
  'müller.example',
  'xn--mller-kva.example',
  'firm.xn--p1ai',
  `${label(63)}.example`,
  name(253),
  `${name(253)}.`,
  '93.184.215.14',
  '[2606:4700::1111]',
]) {
  test(`${host} can be a host`, () => {
    assert.equal(codeOf(host, false), 'accepted');
    assert.equal(codeOf(host, true), 'accepted');
  });
}

for (const host of [
  '-',
  '.',
  '..',
  '-firm.example',
  'firm-.example',
  'firm.-example',
  'firm.example-',
  'firm..example',
  '.firm.example',
  'firm.example..',
  '*.firm.example',
  'fi!rm.example',
  "fi'rm.example",
  'fi$rm.example',
  'fi~rm.example',
  'xn--',
  `${label(64)}.example`,
  name(254),
  `${name(254)}.`,
  'firm.123',
  'firm.0x7f',
  '1.2.3.4.5',
  'fi%20rm.example',
  'fi%2erm..example',
  'fi%00rm.example',
]) {
  test(`${host} can be no host`, () => {
    assert.equal(codeOf(host, false), 'format');
    assert.equal(codeOf(host, true), 'format');
  });
}

for (const host of [
  'receiver',
  'receiver.',
  'my_receiver',
  'my_receiver.internal',
  '_receiver.example',
  'xn--mller-kva',
]) {
  test(`${host} can be a host in a private network only`, () => {
    assert.equal(codeOf(host, false), 'format');
    assert.equal(codeOf(host, true), 'accepted');
  });
}

test('a host name as long as a URL may be is checked quickly', () => {
  const ms = processorMs(() => {
    for (const part of ['-', 'a', 'a.', '-.', 'a-']) assert.equal(codeOf(part.repeat(900), false), 'format');
  });
  assert.ok(ms < 100, `${ms} ms`);
});
