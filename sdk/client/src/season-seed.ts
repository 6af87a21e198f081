/*
 * What a season's secret, once revealed, proves: which held-out episodes a scenario had, and that the server chose the
 * secret before. Web Cryptography, so it runs in browsers too.
 */

/** Whether a revealed secret (hex) is the one that the server committed to. */
export async function matchesCommitment(secret: string, commitment: string): Promise<boolean> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytesOf(secret)))
  return [...digest].map((byte) => byte.toString(16).padStart(2, '0')).join('') === commitment
}

/**
 * The seed of a scenario's held-out episodes in a season: the first 53 bits, big-endian, of HMAC-SHA256 with the season's
 * secret (hex) over the scenario's hash (lower-case hex, as text).
 */
export async function heldOutSeed(secret: string, scenarioHash: string): Promise<number> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', bytesOf(secret), algorithm, false, ['sign'])
  const mac = await crypto.subtle.sign('HMAC', key, new TextEncoder().encode(scenarioHash))
  return Number(new DataView(mac).getBigUint64(0) >> 11n)
}

function bytesOf(hex: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16))
}
