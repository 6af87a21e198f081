import { lookup } from 'node:dns/promises'
import { isIPv6 } from 'node:net'

/** The listening host as configured, without brackets, with IPv6 in its short form. */
export function listeningHost(given: string): string {
  const host = given.replace(/^\[(.*)\]$/, '$1')
  return isIPv6(host) && !host.includes('%') ? bare(new URL(`http://[${host}]`).hostname) : host
}

const bare = (hostname: string) => hostname.replace(/^\[|\]$/g, '')

/** Addresses of this machine that reach a server listening on one of these. */
const own: Record<string, string[]> = {
  '127.0.0.1': ['127.0.0.1'],
  '0.0.0.0': ['127.0.0.1'],
  '::1': ['::1'],
  '::': ['127.0.0.1', '::1'],
}

/**
 * The host in this server's local URL: `localhost` if that name resolves to the listening address, otherwise the
 * address itself. Many machines resolve `localhost` to IPv4 only, some to IPv6 only.
 */
export async function ownAddress(host: string, lookUp = localhostAddresses): Promise<string> {
  const reaching = own[host]
  if (reaching === undefined) return inUrl(host)
  const named = await lookUp()
  return named.some((address) => reaching.includes(address)) ? 'localhost' : inUrl(reaching[0])
}

/** `[::1]`. */
export function inUrl(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}

async function localhostAddresses(): Promise<string[]> {
  const found = await lookup('localhost', { all: true }).catch(() => [])
  return found.map(({ address }) => address)
}
