import { InvalidValue } from '../../kernel/errors.ts';
import { isHostName } from '../outbound/host-name.ts';
import { isPublic, literalAddress } from '../outbound/public-address.ts';

/** What can be told of an address when it is given. What its host resolves to is judged when it is connected to. */
export function parseEndpointUrl(text: string, privateAddresses: boolean): string {
  const url = URL.parse(text);
  if (!url || /[\s\p{Cc}]/u.test(text))
    throw new InvalidValue('format', 'must be an address such as https://firm.example/hooks');
  const schemes = privateAddresses ? ['https:', 'http:'] : ['https:'];
  if (!schemes.includes(url.protocol)) throw new InvalidValue('not_allowed', 'must begin with https://');
  if (url.username || url.password) throw new InvalidValue('not_allowed', 'must not hold credentials');
  if (url.hash || text.includes('#')) throw new InvalidValue('not_allowed', 'must not hold a fragment');
  if (url.port === '0') throw new InvalidValue('out_of_range', 'must name a port from 1 to 65535');
  const address = literalAddress(url);
  const inside = address === undefined ? /(^|\.)localhost\.?$/.test(url.hostname) : !isPublic(address);
  if (inside && !privateAddresses) throw new InvalidValue('not_allowed', 'must be at a public address');
  if (address === undefined && !isHostName(url.hostname, { privateNames: privateAddresses }))
    throw new InvalidValue('format', 'must have a host name that can be resolved, such as firm.example');
  return url.href;
}
