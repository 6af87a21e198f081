import { isIPv6 } from 'node:net'

/**
 * What to count requests of one client by: the address itself, but of IPv6 the /64, for whoever has one address there
 * has 2^64 of them.
 */
export function clientNetwork(ip: string): string {
  if (!isIPv6(ip)) return ip
  const [head, tail] = ip.split('%')[0].split('::')
  const before = head === '' ? [] : head.split(':')
  const after = tail === undefined || tail === '' ? [] : tail.split(':')
  const groups =
    tail === undefined ? before : [...before, ...Array(8 - before.length - after.length).fill('0'), ...after]
  return `${groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`
}
