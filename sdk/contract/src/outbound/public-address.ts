import { BlockList, isIPv4, isIPv6 } from 'node:net'

/**
 * Address blocks of IPv4 that are no host on the public internet: IANA's special-purpose registry, multicast and what is
 * reserved. The metadata services of clouds are among them (169.254.169.254, 100.100.100.200).
 */
const specialIPv4: [address: string, prefix: number][] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.31.196.0', 24],
  ['192.52.193.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['192.175.48.0', 24],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
]

/** Of the global unicast block 2000::/3: protocols of the IETF, documentation, and 6to4, which carries an address of IPv4. */
const specialIPv6: [address: string, prefix: number][] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['2620:4f:8000::', 48],
  ['3fff::', 20],
]

const special = new BlockList()
for (const [address, prefix] of specialIPv4) special.addSubnet(address, prefix, 'ipv4')
for (const [address, prefix] of specialIPv6) special.addSubnet(address, prefix, 'ipv6')

const globalUnicast = new BlockList()
globalUnicast.addSubnet('2000::', 3, 'ipv6')

/**
 * Whether an IP address (no name) is a host of the public internet. Everything of IPv6 outside of global unicast is not:
 * loopback, link-local, unique local, mapped and translated addresses of IPv4 (::ffff:0:0/96, 64:ff9b::/96).
 */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !special.check(address, 'ipv4')
  // A zone (`fe80::1%eth0`) is of addresses that are not public.
  if (!isIPv6(address) || address.includes('%')) return false
  return globalUnicast.check(address, 'ipv6') && !special.check(address, 'ipv6')
}
