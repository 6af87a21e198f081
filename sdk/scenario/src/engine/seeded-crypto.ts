import {
  append,
  defineValue,
  floor,
  lengthOfTypedArray,
  nullObject,
  objectFreeze,
  PlainRangeError,
  PlainTypeError,
  typedArrayName,
  uncurryThis,
} from './primordials.ts'

// Here and not among the primordials, which are part of every bundle: its bytes are the scenario's identity.
const numberToString = uncurryThis(Number.prototype.toString as (this: number, radix: number) => string)
const bigInt = BigInt

/** Bytes of an element, of the arrays that the Web Cryptography API fills. */
const elementBytes = nullObject<number>()
elementBytes.Int8Array = 1
elementBytes.Uint8Array = 1
elementBytes.Uint8ClampedArray = 1
elementBytes.Int16Array = 2
elementBytes.Uint16Array = 2
elementBytes.Int32Array = 4
elementBytes.Uint32Array = 4
elementBytes.BigInt64Array = 8
elementBytes.BigUint64Array = 8

/** The API's own limit of one call. */
const MOST_BYTES = 65_536

export type SeededCrypto = {
  getRandomValues<Numbers extends object>(array: Numbers): Numbers
  randomUUID(): string
}

/**
 * What packages take their seeds and ids from: `crypto.getRandomValues` and `crypto.randomUUID`, drawn from `random`, so that they
 * follow the episode's seed as `Math.random` does. Nothing secret can come of it, and a scenario has no secrets.
 */
export function seededCrypto(random: () => number): SeededCrypto {
  const below = (limit: number): number => floor(random() * limit)
  const word = () => below(4_294_967_296)
  const crypto = {} as SeededCrypto
  defineValue(crypto, 'getRandomValues', <Numbers extends object>(array: Numbers): Numbers => {
    const kind = typedArrayName(array)
    const bytes = kind === undefined ? undefined : elementBytes[kind]
    if (bytes === undefined) throw new PlainTypeError('crypto.getRandomValues fills typed arrays of integers only')
    const length = lengthOfTypedArray(array)
    if (length * bytes > MOST_BYTES) {
      throw new PlainRangeError(`crypto.getRandomValues fills ${MOST_BYTES} bytes at most, not ${length * bytes}`)
    }
    const numbers = array as unknown as (number | bigint)[]
    for (let i = 0; i < length; i += 1) {
      if (bytes === 8) numbers[i] = bigInt(word()) * 4_294_967_296n + bigInt(word())
      else numbers[i] = below(bytes === 1 ? 256 : bytes === 2 ? 65_536 : 4_294_967_296)
    }
    return array
  })
  defineValue(crypto, 'randomUUID', (): string => {
    const bytes: number[] = []
    for (let i = 0; i < 16; i += 1) append(bytes, below(256))
    // Version 4, variant 1.
    bytes[6] = (bytes[6] & 0x0f) | 0x40
    bytes[8] = (bytes[8] & 0x3f) | 0x80
    let text = ''
    for (let i = 0; i < 16; i += 1) {
      if (i === 4 || i === 6 || i === 8 || i === 10) text += '-'
      text += (bytes[i] < 16 ? '0' : '') + numberToString(bytes[i], 16)
    }
    return text
  })
  return objectFreeze(crypto)
}
