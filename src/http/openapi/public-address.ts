import type { FastifyRequest } from 'fastify';

// A name or an IPv4 address, or an IPv6 address in brackets, then an optional port.
const PLAIN_HOST = /^(?:\[[0-9A-Fa-f:.]{2,45}\]|[0-9A-Za-z._-]{1,253})(?::[0-9]{1,5})?$/;

/**
 * Returns the URL at which the caller reaches the service, without a slash at its end. Empty, so that links are relative
 * to the host, if the request names no plausible host: a page would otherwise repeat what a stranger sent.
 */
export function publicAddress({ protocol, host }: FastifyRequest, publicUrl: string | undefined): string {
  if (publicUrl !== undefined) return publicUrl;
  return PLAIN_HOST.test(host) ? `${protocol}://${host}` : '';
}
