import { seededCrypto } from '../engine/seeded-crypto.ts'
import type { Engine } from '../engine/vector-engine.ts'

/**
 * Runs `operation` with the `Math.random`, `crypto` and `Date` of the sandbox, which follow the episode that the engine plays; if it
 * returns a promise, until that has settled. Tests around it keep their own.
 */
export function withEpisodeGlobals<Result>(engine: Engine, operation: () => Result): Result {
  const { random } = Math
  const { Date: NativeDate } = globalThis
  const crypto = Object.getOwnPropertyDescriptor(globalThis, 'crypto')
  const restore = () => {
    Math.random = random
    globalThis.Date = NativeDate
    Object.defineProperty(globalThis, 'crypto', crypto ?? {})
  }
  Math.random = () => engine.currentRandom()
  Object.defineProperty(globalThis, 'crypto', {
    value: seededCrypto(() => engine.currentRandom()),
    configurable: true,
    writable: true,
  })
  globalThis.Date = episodeDate(NativeDate, () => engine.currentTime())
  let result: Result
  try {
    result = operation()
  } catch (error) {
    restore()
    throw error
  }
  if (!(result instanceof Promise)) {
    restore()
    return result
  }
  return result.finally(restore) as Result
}

function episodeDate(NativeDate: DateConstructor, now: () => number): DateConstructor {
  return new Proxy(NativeDate, {
    get: (target, key, receiver) => (key === 'now' ? now : Reflect.get(target, key, receiver)),
    construct: (target, parts, newTarget) => Reflect.construct(target, parts.length === 0 ? [now()] : parts, newTarget),
    apply: (target) => new target(now()).toString(),
  })
}
