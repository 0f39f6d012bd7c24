import type { IncomingMessage } from 'node:http';
import { BlockList, isIP, SocketAddress } from 'node:net';
import type { FastifyInstance } from 'fastify';

declare module 'fastify' {
  interface FastifyRequest {
    /** The IP address that the request came from, as far as trusted proxies tell. */
    callerAddress: string;
  }
}

/** Addresses and ranges such as `10.0.0.0/8`. */
export type TrustedProxies = readonly string[];

/** More proxies than this in a row are not credible. A caller can send thousands of addresses. */
const MAX_FORWARDED_ADDRESSES = 32;

/** Adds `callerAddress` to requests. Refusals and token requests read it several times, other requests never. */
export function callerAddresses(app: FastifyInstance, trustedProxies: TrustedProxies): void {
  const trusted = new BlockList();
  for (const proxy of trustedProxies) {
    const [address = '', bits] = proxy.split('/', 2);
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (bits === undefined) trusted.addAddress(address, family);
    else trusted.addSubnet(address, Number(bits), family);
  }
  const isTrusted = (address: string) => trusted.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
  const found = new WeakMap<IncomingMessage, string>();
  app.decorateRequest('callerAddress', {
    getter() {
      const address = found.get(this.raw) ?? findCallerAddress(this.raw, isTrusted);
      found.set(this.raw, address);
      return address;
    },
  });
}

/**
 * Returns the address of the peer. If the peer is a trusted proxy, returns the last address in its forwarding header
 * that is not a trusted proxy. Any caller can send such headers, so they are ignored from other peers.
 */
function findCallerAddress({ socket, headers }: IncomingMessage, isTrusted: (address: string) => boolean): string {
  const peer = parseAddress(socket.remoteAddress ?? '');
  if (peer === undefined) return 'unknown'; // The peer has disconnected.
  const { forwarded, 'x-forwarded-for': forwardedFor } = headers;
  if ((forwarded ?? forwardedFor) === undefined || !isTrusted(peer)) return peer;
  const found = [
    forwarded === undefined ? undefined : nearestUntrusted(parseForwarded(forwarded), isTrusted),
    forwardedFor === undefined ? undefined : nearestUntrusted(String(forwardedFor).split(','), isTrusted),
  ];
  // A proxy writes one of the two headers and may pass on the other one as the caller sent it. If they differ, one of
  // them may be forged.
  if (forwarded !== undefined && forwardedFor !== undefined && found[0] !== found[1]) return peer;
  return found[0] ?? found[1] ?? peer;
}

/**
 * Each proxy appends the address of its peer. Returns undefined if a word that counts is not an address, or if there are
 * too many trusted ones.
 */
function nearestUntrusted(words: readonly string[], isTrusted: (address: string) => boolean): string | undefined {
  let address: string | undefined;
  for (const word of words.slice(-MAX_FORWARDED_ADDRESSES).reverse()) {
    address = parseAddress(word.trim());
    if (address === undefined || !isTrusted(address)) return address;
  }
  return words.length > MAX_FORWARDED_ADDRESSES ? undefined : address;
}

const PAIR = /[ \t]*(?:([\w!#$%&'*+.^`|~-]+)=([\w!#$%&'*+.^`|~-]+|"(?:[^"\\]|\\.)*")[ \t]*)?([;,]|$)/y;

/** Returns the value of `for` in each element of `Forwarded` (RFC 7239, section 4); none if the header is malformed. */
export function parseForwarded(header: string): string[] {
  const values: string[] = [];
  let element: string | undefined;
  for (let position = 0, end = ','; end !== ''; position = PAIR.lastIndex) {
    PAIR.lastIndex = position;
    const pair = PAIR.exec(header);
    if (!pair) return [];
    const [, name, value = ''] = pair;
    end = pair[3] as string;
    if (name !== undefined) element ??= '';
    if (name?.toLowerCase() === 'for') {
      if (element !== '') return []; // The grammar allows each parameter once.
      element = value.startsWith('"') ? value.slice(1, -1).replaceAll(/\\(.)/g, '$1') : value;
    }
    if (end === ';') continue;
    // RFC 9110, section 5.6.1: empty elements of a list are ignored.
    if (element !== undefined) values.push(element);
    element = undefined;
  }
  return values;
}

/** Reads an address, in brackets if it is IPv6 with a port. Returns one form for each address, IPv4 if possible. */
function parseAddress(word: string): string | undefined {
  const [, bracketed, plain] = /^(?:\[([^\]]*)\](?::\w+)?|([^:]*)(?::\d+)?)$/.exec(word) ?? [];
  const address = bracketed ?? plain ?? word;
  const family = isIP(address);
  if (family === 0) return undefined;
  if (family === 4) return address;
  const canonical = new SocketAddress({ address: address.split('%', 1)[0] as string, family: 'ipv6' }).address;
  return canonical.startsWith('::ffff:') && canonical.includes('.') ? canonical.slice('::ffff:'.length) : canonical;
}
