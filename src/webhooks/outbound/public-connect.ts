import { once } from 'node:events';
import { connect as connectTo, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { connect as secure } from 'node:tls';
import { resolvePublic, resolveWithHosts } from './dns.ts';
import { isPublic, literalAddress } from './public-address.ts';

/**
 * Connections to addresses that strangers have named. The name is resolved once, each address is judged, and it is the
 * address that is connected to: nothing can be another one the second time it is asked for.
 */
export type Reach = {
  privateAddresses: boolean;
  resolve?: (host: string, signal: AbortSignal) => Promise<string[]>;
  /** The machine's own addresses, public ones among them. */
  own?: () => string[];
  dial?: (address: string, port: number) => Socket;
  /** Of the receivers' certificates, where it is none that Node knows. */
  ca?: string | undefined;
};

/** Why there was no answer, for people. */
export class Unanswered extends Error {}

const MOST_ADDRESSES = 4;
const CONNECT_MS = 4_000;

// Written as Node writes them everywhere.
const ownAddresses = () => Object.values(networkInterfaces()).flatMap((all = []) => all.map(({ address }) => address));
const dialAddress = (address: string, port: number) => connectTo({ host: address, port });

/** A socket over which a request can be sent; nothing has been sent over it but what TLS itself sends. */
export async function connect(url: URL, reach: Reach, signal: AbortSignal): Promise<Socket> {
  if (url.protocol !== 'https:' && !reach.privateAddresses) throw new Unanswered('Only https is spoken.');
  const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80));
  const socket = await openFirst(await addressesOf(url, reach, signal), port, reach, signal);
  return url.protocol === 'https:' ? overTls(socket, url, reach, signal) : socket;
}

async function addressesOf(url: URL, reach: Reach, signal: AbortSignal): Promise<string[]> {
  const literal = literalAddress(url);
  const { resolve = reach.privateAddresses ? resolveWithHosts : resolvePublic } = reach;
  const found = literal === undefined ? await unlessAborted(resolve(url.hostname, signal), signal) : [literal];
  const allowed = found.filter((address) => isAllowed(address, reach));
  if (allowed.length === 0) {
    throw new Unanswered(found.length > 0 ? 'The host is at no public address.' : 'The host has no address.');
  }
  return allowed.slice(0, MOST_ADDRESSES);
}

const isAllowed = (address: string, { privateAddresses, own = ownAddresses }: Reach): boolean =>
  privateAddresses || (isPublic(address) && !own().includes(address));

/** The first address that answers. */
async function openFirst(addresses: string[], port: number, reach: Reach, signal: AbortSignal): Promise<Socket> {
  let fault: unknown;
  for (const address of addresses) {
    try {
      return await open(address, port, reach, signal);
    } catch (error) {
      signal.throwIfAborted();
      fault = error;
    }
  }
  throw fault;
}

async function open(address: string, port: number, reach: Reach, signal: AbortSignal): Promise<Socket> {
  const { dial = dialAddress } = reach;
  const socket = dial(address, port);
  try {
    await once(socket, 'connect', { signal: AbortSignal.any([signal, AbortSignal.timeout(CONNECT_MS)]) });
    if (!isAllowed(socket.remoteAddress ?? '', reach)) {
      throw new Unanswered('The connection led to no public address.');
    }
    return socket;
  } catch (error) {
    socket.on('error', () => {});
    socket.destroy();
    throw error;
  }
}

async function overTls(socket: Socket, url: URL, { ca }: Reach, signal: AbortSignal): Promise<Socket> {
  // A literal address is no server name; the certificate is held against it all the same.
  const host = literalAddress(url);
  const names = host === undefined ? { servername: url.hostname } : { host };
  const tls = secure({ socket, ...names, ca, ALPNProtocols: ['http/1.1'] });
  try {
    await once(tls, 'secureConnect', { signal });
    return tls;
  } catch (error) {
    tls.on('error', () => {});
    tls.destroy();
    socket.destroy();
    throw error;
  }
}

async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(signal.reason);
  signal.addEventListener('abort', onAbort);
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
