import { BlockList, isIP } from 'node:net';

/** Which addresses belong to the public internet, by the special-purpose registries of IANA. */

const NON_PUBLIC_IPV4: readonly [net: string, prefix: number][] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  // The metadata service of Azure.
  ['168.63.129.16', 32],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  // Multicast, then the reserved range with the broadcast address.
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
];

/**
 * Exceptions within 2000::/3, the only public range: it excludes `::1`, mapped IPv4, NAT64, unique local, link-local
 * and multicast addresses.
 */
const NON_PUBLIC_IPV6: readonly [net: string, prefix: number][] = [
  // Teredo, benchmarking, ORCHID and others; documentation; 6to4, which leads to any IPv4 address; documentation.
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
];

const blockedIpv4 = new BlockList();
for (const [net, prefix] of NON_PUBLIC_IPV4) blockedIpv4.addSubnet(net, prefix, 'ipv4');
const blockedIpv6 = new BlockList();
for (const [net, prefix] of NON_PUBLIC_IPV6) blockedIpv6.addSubnet(net, prefix, 'ipv6');
const unicastIpv6 = new BlockList();
unicastIpv6.addSubnet('2000::', 3, 'ipv6');

export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !blockedIpv4.check(address, 'ipv4');
    case 6:
      // An address with a zone belongs to a link of this machine.
      return !address.includes('%') && unicastIpv6.check(address, 'ipv6') && !blockedIpv6.check(address, 'ipv6');
    default:
      return false;
  }
}

/** Returns the IP address in the URL, without the brackets of IPv6, or undefined if the URL has a host name. */
export function literalAddress({ hostname }: URL): string | undefined {
  const bare = hostname.replace(/^\[(.*)\]$/, '$1');
  return isIP(bare) ? bare : undefined;
}
