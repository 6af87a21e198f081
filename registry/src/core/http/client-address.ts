import { isIPv6 } from 'node:net'
import type { Context } from 'hono'
import type { Env } from './env.ts'

/**
 * The address of whoever sent a request. Each proxy appends the address that it saw to `X-Forwarded-For`, so with `n`
 * trusted ones the entry that the outermost of them wrote is the n-th from the right; everything further left is what
 * the client claims, and is not believed.
 */
export function clientAddress(socketAddress: string, forwardedFor: string | undefined, trustedProxies: number): string {
  const hops = trustedProxies === 0 ? [] : (forwardedFor ?? '').split(',').map((hop) => hop.trim())
  const chain = [...hops.filter((hop) => hop !== ''), socketAddress]
  return plain(chain[Math.max(0, chain.length - 1 - trustedProxies)])
}

/** `::ffff:192.0.2.1`, as a socket for both families names it, is 192.0.2.1. What is no address is cut short. */
function plain(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, '').slice(0, 45)
}

const passedOn = ['x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'forwarded', 'via']

/**
 * Whether a request comes from this machine. That is the connection itself, asked for by a local name and passed on by
 * nobody: a proxy on this machine connects from it too, for all the world, and a page in a browser on it may be led here
 * under a name of its own.
 */
export function isLocalRequest(c: Context<Env>): boolean {
  if (passedOn.some((header) => c.req.header(header) !== undefined)) return false
  const address = c.env?.incoming?.socket.remoteAddress ?? ''
  const host = (c.req.header('host') ?? '').replace(/:\d+$/, '')
  return /^(::1|(::ffff:)?127(\.\d+){3})$/.test(address) && ['localhost', '127.0.0.1', '[::1]'].includes(host)
}

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
