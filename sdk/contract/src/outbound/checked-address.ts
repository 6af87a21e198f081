import { isIP, type LookupFunction } from 'node:net'
import { AgentGymError } from '../agent-gym-error.ts'
import { isPublicAddress } from './public-address.ts'

export type AddressRules = {
  /** Origins, such as `http://127.0.0.1:8000`, that the operator allows wherever they are. */
  allowed: ReadonlySet<string>
  /** How to mend a refusal. */
  hint: string
  /** The request's field that names the address. */
  field: string
}

/** Ports of servers that are meant for everybody. */
const publicPorts = ['', '443', '8443']

/**
 * Throws `address_refused` for an address that may not be called: only public hosts over HTTPS are, and origins that the
 * operator allows. A name is checked again when it is resolved, by `publicLookup`.
 */
export function checkAddress(address: string, rules: AddressRules): URL {
  const url = URL.parse(address)
  if (url === null || !['http:', 'https:'].includes(url.protocol))
    throw refusedAddress(address, 'it is not an http or https address', rules)
  if (url.username !== '' || url.password !== '')
    throw refusedAddress(url.origin, 'it carries a user name or password', rules)
  if (rules.allowed.has(url.origin)) return url
  if (url.protocol !== 'https:') throw refusedAddress(url.origin, 'only https is allowed', rules)
  if (!publicPorts.includes(url.port)) throw refusedAddress(url.origin, `port ${url.port} is not allowed`, rules)
  const host = url.hostname.replace(/^\[|\]$/g, '')
  if (isIP(host) !== 0 && !isPublicAddress(host)) throw refusedAddress(url.origin, 'it is not a public address', rules)
  return url
}

/**
 * Resolves a name and gives only what is public. One address that is not refuses the name: which one is used must not
 * matter. As a socket's `lookup`, the socket connects to an address that was checked, whatever DNS answers later.
 */
export function publicLookup(lookup: LookupFunction, rules: Omit<AddressRules, 'allowed'>): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, found) => {
      if (error !== null) return callback(error, '', 0)
      const addresses = Array.isArray(found) ? found : [{ address: found, family: isIP(found) }]
      if (addresses.length === 0 || !addresses.every(({ address }) => isPublicAddress(address))) {
        return callback(refusedAddress(hostname, 'it does not resolve to public addresses alone', rules), '', 0)
      }
      if (options.all) return callback(null, addresses)
      callback(null, addresses[0].address, addresses[0].family)
    })
  }
}

export function refusedAddress(
  address: string,
  why: string,
  { hint, field }: Omit<AddressRules, 'allowed'>,
): AgentGymError {
  return new AgentGymError({
    code: 'address_refused',
    message: `${address.slice(0, 200)} is not called: ${why}.`,
    hint,
    data: { field },
  })
}
