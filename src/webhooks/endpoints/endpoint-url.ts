import { InvalidValue } from '../../kernel/errors.ts';
import { isHostName } from '../outbound/host-name.ts';
import { isPublicAddress, literalAddress } from '../outbound/public-address.ts';

/** Checks what the text alone tells. The addresses of the host are checked each time a delivery connects to it. */
export function parseEndpointUrl(text: string, allowPrivateAddresses: boolean): string {
  const url = URL.parse(text);
  if (!url || /[\s\p{Cc}]/u.test(text))
    throw new InvalidValue('format', 'must be a URL such as https://company.example/hooks');
  const schemes = allowPrivateAddresses ? ['https:', 'http:'] : ['https:'];
  if (!schemes.includes(url.protocol)) throw new InvalidValue('not_allowed', 'must begin with https://');
  if (url.username || url.password) throw new InvalidValue('not_allowed', 'must not contain credentials');
  if (url.hash || text.includes('#')) throw new InvalidValue('not_allowed', 'must not contain a fragment');
  if (url.port === '0') throw new InvalidValue('out_of_range', 'must have a port from 1 to 65535');
  const address = literalAddress(url);
  const isPrivate = address === undefined ? /(^|\.)localhost\.?$/.test(url.hostname) : !isPublicAddress(address);
  if (isPrivate && !allowPrivateAddresses) throw new InvalidValue('not_allowed', 'must be a public address');
  if (address === undefined && !isHostName(url.hostname, { allowPrivateNames: allowPrivateAddresses }))
    throw new InvalidValue('format', 'must have a host name that can be resolved, such as company.example');
  return url.href;
}
