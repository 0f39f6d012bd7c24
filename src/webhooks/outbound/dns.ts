import { lookup, Resolver } from 'node:dns/promises';

/** The addresses of a host, from the network's name servers, within a time and without a thread of its own. */

const TIMES = { timeout: 1_500, tries: 2 };

/** `servers`: by default those that the machine is set to ask. */
export async function resolvePublic(host: string, signal: AbortSignal, servers?: string[]): Promise<string[]> {
  const resolver = new Resolver(TIMES);
  if (servers) resolver.setServers(servers);
  const cancel = () => resolver.cancel();
  signal.addEventListener('abort', cancel);
  try {
    const found = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    const addresses = found.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
    if (addresses.length === 0 && found[0].status === 'rejected') throw found[0].reason;
    return addresses;
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}

/** Also the names that the machine itself gives: only where what they lead to is allowed anyway. */
export const resolveWithHosts = async (host: string): Promise<string[]> =>
  (await lookup(host, { all: true })).map(({ address }) => address);
