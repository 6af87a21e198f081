import { isIPv6 } from 'node:net'
import type { Context } from 'hono'
import type { Env } from './env.ts'

/**
 * The address of the client. Each proxy appends the address that it saw to `X-Forwarded-For`, so with `n` trusted
 * proxies the entry that the outermost of them wrote is the n-th from the right. Everything further left is set by the
 * client and not trusted.
 */
export function clientAddress(socketAddress: string, forwardedFor: string | undefined, trustedProxies: number): string {
  const hops = trustedProxies === 0 ? [] : (forwardedFor ?? '').split(',').map((hop) => hop.trim())
  const chain = [...hops.filter((hop) => hop !== ''), socketAddress]
  return plain(chain[Math.max(0, chain.length - 1 - trustedProxies)])
}

/**
 * `::ffff:192.0.2.1`, as a socket for both families names it, is 192.0.2.1. Anything that is not an address is
 * truncated.
 */
function plain(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, '').slice(0, 45)
}

const passedOn = ['x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'forwarded', 'via']

/**
 * Whether a request comes from this machine: the connection is local, uses a local name, and was not forwarded. The
 * connection alone is not enough: a proxy on this machine connects from it for remote clients, and a web page in a
 * local browser may be directed here under a name of its own.
 */
export function isLocalRequest(c: Context<Env>): boolean {
  const { siteCall } = c.env ?? {}
  if (siteCall !== undefined) return siteCall.local
  if (passedOn.some((header) => c.req.header(header) !== undefined)) return false
  const address = c.env?.incoming?.socket.remoteAddress ?? ''
  const host = (c.req.header('host') ?? '').replace(/:\d+$/, '')
  return /^(::1|(::ffff:)?127(\.\d+){3})$/.test(address) && ['localhost', '127.0.0.1', '[::1]'].includes(host)
}

/**
 * The key for counting a client's requests: the IPv4 address, or the IPv6 /64, because a client controls all 2^64
 * addresses of it.
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
