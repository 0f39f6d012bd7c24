import { once } from 'node:events';
import { connect as connectTcp, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { connect as connectTls } from 'node:tls';
import { resolveWithDns, resolveWithSystem } from './dns.ts';
import { isPublicAddress, literalAddress } from './public-address.ts';

/**
 * Connections to URLs that callers chose must not reach the internal network. The name is resolved once, each address
 * is checked, and the connection goes to a checked address, so a second DNS answer cannot lead elsewhere.
 */
export type OutboundPolicy = {
  allowPrivateAddresses: boolean;
  resolve?: (host: string, signal: AbortSignal) => Promise<string[]>;
  /** The machine's own addresses, which are refused even if they are public. */
  localAddresses?: () => string[];
  dial?: (address: string, port: number) => Socket;
  /** The issuer of receivers' certificates, if Node does not trust it. */
  ca?: string | undefined;
};

/** Why there was no response. The message is shown to people. */
export class NoResponseError extends Error {}

const MAX_ADDRESSES = 4;
const CONNECT_TIMEOUT_MS = 4_000;

// Comparable as text, because Node writes an address the same way everywhere.
const interfaceAddresses = () =>
  Object.values(networkInterfaces()).flatMap((addresses = []) => addresses.map(({ address }) => address));
const dialAddress = (address: string, port: number) => connectTcp({ host: address, port });

/** Returns a socket that is ready for a request; only the TLS handshake has been sent. */
export async function connectToPublicHost(url: URL, policy: OutboundPolicy, signal: AbortSignal): Promise<Socket> {
  if (url.protocol !== 'https:' && !policy.allowPrivateAddresses) throw new NoResponseError('Only https is allowed.');
  const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80));
  const socket = await connectToFirst(await allowedAddresses(url, policy, signal), port, policy, signal);
  return url.protocol === 'https:' ? startTls(socket, url, policy, signal) : socket;
}

async function allowedAddresses(url: URL, policy: OutboundPolicy, signal: AbortSignal): Promise<string[]> {
  const literal = literalAddress(url);
  const { resolve = policy.allowPrivateAddresses ? resolveWithSystem : resolveWithDns } = policy;
  const found = literal === undefined ? await unlessAborted(resolve(url.hostname, signal), signal) : [literal];
  const allowed = found.filter((address) => isAllowed(address, policy));
  if (allowed.length === 0) {
    throw new NoResponseError(found.length > 0 ? 'The host has no public address.' : 'The host has no address.');
  }
  return allowed.slice(0, MAX_ADDRESSES);
}

const isAllowed = (
  address: string,
  { allowPrivateAddresses, localAddresses = interfaceAddresses }: OutboundPolicy,
): boolean => allowPrivateAddresses || (isPublicAddress(address) && !localAddresses().includes(address));

async function connectToFirst(
  addresses: string[],
  port: number,
  policy: OutboundPolicy,
  signal: AbortSignal,
): Promise<Socket> {
  let lastError: unknown;
  for (const address of addresses) {
    try {
      return await openSocket(address, port, policy, signal);
    } catch (error) {
      signal.throwIfAborted();
      lastError = error;
    }
  }
  throw lastError;
}

async function openSocket(address: string, port: number, policy: OutboundPolicy, signal: AbortSignal): Promise<Socket> {
  const { dial = dialAddress } = policy;
  const socket = dial(address, port);
  try {
    await once(socket, 'connect', { signal: AbortSignal.any([signal, AbortSignal.timeout(CONNECT_TIMEOUT_MS)]) });
    if (!isAllowed(socket.remoteAddress ?? '', policy)) {
      throw new NoResponseError('The connection did not lead to a public address.');
    }
    return socket;
  } catch (error) {
    socket.on('error', () => {});
    socket.destroy();
    throw error;
  }
}

async function startTls(socket: Socket, url: URL, { ca }: OutboundPolicy, signal: AbortSignal): Promise<Socket> {
  // An IP address is not valid as a TLS server name. The certificate is checked against it all the same.
  const host = literalAddress(url);
  const names = host === undefined ? { servername: url.hostname } : { host };
  const tls = connectTls({ socket, ...names, ca, ALPNProtocols: ['http/1.1'] });
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
