import { createHash, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const secretBytes = 20
/** 62^27 > 2^160. */
const secretDigits = 27
const checksumDigits = 6

/** Prefixes of secrets, so that people and secret scanners recognize them. */
export type SecretPrefix = 'agt_' | 'agd_' | 'agm_' | 'agl_'

/** 160 random bits in base 62 behind a prefix, and a checksum: mistyped secrets are detected without the database. */
export function makeSecret(prefix: SecretPrefix): string {
  const body = prefix + base62(BigInt(`0x${randomBytes(secretBytes).toString('hex')}`), secretDigits)
  return body + checksum(body)
}

/** Whether `text` has the form of a secret of that kind, issued or not. */
export function isSecret(prefix: SecretPrefix, text: string): boolean {
  if (text.length !== prefix.length + secretDigits + checksumDigits || !text.startsWith(prefix)) return false
  return checksum(text.slice(0, -checksumDigits)) === text.slice(-checksumDigits)
}

/**
 * SHA-256 in hex: what the database stores of a secret. A fast hash suffices, because 160 random bits can't be guessed;
 * and a lookup by hash compares no secrets, so its timing reveals nothing.
 */
export function hashSecret(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

function checksum(body: string): string {
  return base62(BigInt(crc32(body)), checksumDigits)
}

function base62(value: bigint, digits: number): string {
  let text = ''
  for (let rest = value; rest > 0n; rest /= 62n) text = alphabet[Number(rest % 62n)] + text
  return text.padStart(digits, alphabet[0])
}
