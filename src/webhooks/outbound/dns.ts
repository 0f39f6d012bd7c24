import { lookup, Resolver } from 'node:dns/promises';

const RESOLVER_OPTIONS = { timeout: 1_500, tries: 2 };

/**
 * Asks name servers for the addresses of a host; the default is the servers that the machine is configured with. Unlike
 * `lookup`, this ignores the hosts file, occupies no thread and ends with the signal.
 */
export async function resolveWithDns(host: string, signal: AbortSignal, servers?: string[]): Promise<string[]> {
  const resolver = new Resolver(RESOLVER_OPTIONS);
  if (servers) resolver.setServers(servers);
  const cancel = () => resolver.cancel();
  signal.addEventListener('abort', cancel);
  try {
    const results = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    const addresses = results.flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
    if (addresses.length === 0 && results[0].status === 'rejected') throw results[0].reason;
    return addresses;
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}

/** Also resolves names of the hosts file, so it is only for services that may connect to private addresses. */
export const resolveWithSystem = async (host: string): Promise<string[]> =>
  (await lookup(host, { all: true })).map(({ address }) => address);
