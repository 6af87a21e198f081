import { createHash } from 'node:crypto'
import { Transform } from 'node:stream'
import { AgentGymError } from '@agentgym/contract'
import { digestOf, keyOf } from './object-key.ts'

/** The bytes, if they are those that the key names. Throws `object_damaged`. */
export function verifyObject(key: string, bytes: Uint8Array): Uint8Array {
  if (keyOf(bytes) !== key) throw damaged(key)
  return bytes
}

/**
 * Passes an object through and fails with `object_damaged` before its last chunk when the bytes are not those that the key
 * names: whoever reads a damaged object never sees it end well.
 */
export function verifyingStream(key: string): Transform {
  const expected = digestOf(key)
  const hash = createHash('sha256')
  let held: Uint8Array | undefined
  return new Transform({
    transform(chunk: Uint8Array, _encoding, done) {
      hash.update(chunk)
      const next = held
      held = chunk
      done(null, next)
    },
    flush(done) {
      if (hash.digest('hex') === expected) done(null, held)
      else done(damaged(key))
    },
  })
}

function damaged(key: string): AgentGymError {
  return new AgentGymError({
    code: 'object_damaged',
    message: `The stored object ${key} is not what was stored.`,
    hint: 'Restore it from a backup: its name is the SHA-256 of what it has to be.',
    data: { key },
  })
}
