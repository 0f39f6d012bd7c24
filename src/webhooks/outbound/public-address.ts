import { BlockList, isIP } from 'node:net';

/** Which addresses are somebody's in the public network. Pure. */

const NOT_PUBLIC: readonly [net: string, prefix: number][] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  // What a machine at Azure asks for its own settings.
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
  // Multicast; then what is reserved, with the broadcast address.
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
];

/** Within 2000::/3, outside of which nothing is public: not `::1`, mapped IPv4, NAT64, unique or link-local, multicast. */
const NOT_PUBLIC_6: readonly [net: string, prefix: number][] = [
  // Teredo, benchmarks, ORCHID and the like; documentation; 6to4, which leads to any IPv4 address.
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
];

const blocked = new BlockList();
for (const [net, prefix] of NOT_PUBLIC) blocked.addSubnet(net, prefix, 'ipv4');
const blocked6 = new BlockList();
for (const [net, prefix] of NOT_PUBLIC_6) blocked6.addSubnet(net, prefix, 'ipv6');
const unicast6 = new BlockList();
unicast6.addSubnet('2000::', 3, 'ipv6');

export function isPublic(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !blocked.check(address, 'ipv4');
    case 6:
      // One with a zone is of this machine's own links.
      return !address.includes('%') && unicast6.check(address, 'ipv6') && !blocked6.check(address, 'ipv6');
    default:
      return false;
  }
}

/** The address that a URL names by itself, without the brackets of IPv6; undefined where it names a host. */
export function literalAddress({ hostname }: URL): string | undefined {
  const bare = hostname.replace(/^\[(.*)\]$/, '$1');
  return isIP(bare) ? bare : undefined;
}
