import { createHash } from 'node:crypto'

/**
 * The id of a transfer: a uuid (version 8) of the SHA-256 of what it is for, so that whoever does the same thing again asks
 * for the same transfer. `ids` are of the order, refund, payment or payout.
 */
export function transferId(part: string, ...ids: string[]): string {
  const hash = createHash('sha256')
    .update(['transfer', part, ...ids].join('\n'))
    .digest()
  hash[6] = (hash[6] & 0x0f) | 0x80
  hash[8] = (hash[8] & 0x3f) | 0x80
  const hex = hash.toString('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join('-')
}
