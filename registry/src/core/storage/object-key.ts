import assert from 'node:assert'
import { createHash } from 'node:crypto'

const pattern = /^sha256\/([0-9a-f]{64})$/

export function keyOf(bytes: Uint8Array): string {
  return `sha256/${createHash('sha256').update(bytes).digest('hex')}`
}

/** The digest (hex) in a key. Anything else than a key is a bug: no path is ever made of what a client sends. */
export function digestOf(key: string): string {
  const digest = pattern.exec(key)?.[1]
  assert(digest, `${JSON.stringify(key)} is no object key`)
  return digest
}

export const isKey = (text: string): boolean => pattern.test(text)
