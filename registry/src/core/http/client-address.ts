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
