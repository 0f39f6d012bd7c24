import type { IncomingMessage } from 'node:http';
import { type CodedError, invalidRequest } from '../../kernel/errors.ts';

// RFC 3986: a name, an IPv4 address, or an IPv6 address in brackets, then an optional port.
const HOST = /^(?:\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._~%!$&'()*+,;=-]*)(?::[0-9]{0,5})?$/;

/** RFC 9112, section 3.2: exactly one valid Host header, which may be empty. */
export function hostFault({ headers, rawHeaders, httpVersion }: IncomingMessage): CodedError | undefined {
  const { host } = headers;
  if (host === undefined) return httpVersion === '1.1' ? NO_HOST : undefined;
  if (!HOST.test(host)) return BAD_HOST;
  // Node exposes only the first of several Host headers in `headers`.
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string;
    if (name.length === 4 && name.toLowerCase() === 'host') count++;
  }
  return count > 1 ? TWO_HOSTS : undefined;
}

const NO_HOST = invalidRequest([{ field: 'Host', code: 'required', message: 'the header Host is required' }]);
const BAD_HOST = invalidRequest([
  { field: 'Host', code: 'format', message: 'the header Host must be a host and a port' },
]);
const TWO_HOSTS = invalidRequest([{ field: 'Host', code: 'too_many', message: 'the header Host must be sent once' }]);
