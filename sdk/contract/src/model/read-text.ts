import { modelFailure, shown } from './model-failure.ts'
import type { ModelWalk } from './model-walk.ts'
import { bytesField, readMessage } from './wire-reader.ts'

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** A name of a tensor, node, operator or attribute; "" where `optional`. Throws `model_name_invalid`, `model_string_too_long`. */
export function readName(bytes: Uint8Array, what: string, walk: ModelWalk, optional = false): string {
  const text = decode(bytes, what, walk.limits.nameBytes)
  if (text === '' && !optional) throw modelFailure('model_name_invalid', `${what} has an empty name`)
  if (/\p{Cc}/u.test(text))
    throw modelFailure('model_name_invalid', `${what} has the name ${shown(text)}, with a control character in it`)
  return text
}

/** Checks a text that means nothing to us: documentation, names of tools. */
export function checkText(bytes: Uint8Array, what: string, walk: ModelWalk): void {
  decode(bytes, what, walk.limits.textBytes)
}

/** Checks one entry of a metadata list: two texts. */
export function checkMetadata(bytes: Uint8Array, what: string, walk: ModelWalk): void {
  readMessage(walk, bytes, `metadata of ${what}`, {
    1: bytesField('key', (key) => void readName(key, `metadata of ${what}`, walk, true)),
    2: bytesField('value', (value) => checkText(value, `metadata of ${what}`, walk)),
  })
}

function decode(bytes: Uint8Array, what: string, limit: number): string {
  if (bytes.length > limit)
    throw modelFailure(
      'model_string_too_long',
      `${what} has a text of ${bytes.length} bytes; at most ${limit} are taken`,
      {
        limit,
      },
    )
  try {
    return decoder.decode(bytes)
  } catch {
    throw modelFailure('model_name_invalid', `${what} has a text that is not UTF-8`)
  }
}
