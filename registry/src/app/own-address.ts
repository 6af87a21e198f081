import { lookup } from 'node:dns/promises'
import { isIPv6 } from 'node:net'

/** What a server listens on: as its operator wrote it, without brackets, IPv6 in its short form. */
export function listeningHost(given: string): string {
  const host = given.replace(/^\[(.*)\]$/, '$1')
  return isIPv6(host) && !host.includes('%') ? bare(new URL(`http://[${host}]`).hostname) : host
}

const bare = (hostname: string) => hostname.replace(/^\[|\]$/g, '')

/** Addresses of this machine that reach a server which listens on one of these. */
const own: Record<string, string[]> = {
  '127.0.0.1': ['127.0.0.1'],
  '0.0.0.0': ['127.0.0.1'],
  '::1': ['::1'],
  '::': ['127.0.0.1', '::1'],
}

/**
 * What people type to reach this server from its own machine: `localhost`, if that name leads to the address that it
 * listens on, and the address itself if not. Many machines have `localhost` for IPv4 only, some for IPv6 only.
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
