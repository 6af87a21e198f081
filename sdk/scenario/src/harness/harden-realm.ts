import { seededCrypto } from '../engine/index.ts'
import type { LogLevel } from './guest-console.ts'
import { replaceDate } from './virtual-date.ts'

/**
 * The only names on a guest's global object: the language itself, without what shares memory, escapes the memory limit
 * (WebAssembly, growable buffers), sees the garbage collector or the machine's locale. A list of what stays, so that
 * what a later V8 adds is absent until someone has judged it.
 */
const kept = [
  'Infinity NaN undefined globalThis eval isFinite isNaN parseFloat parseInt',
  'decodeURI decodeURIComponent encodeURI encodeURIComponent escape unescape',
  'Object Function Array Number Boolean String Symbol Date Promise RegExp JSON Math Reflect Proxy BigInt Iterator',
  'Error AggregateError EvalError RangeError ReferenceError SyntaxError TypeError URIError SuppressedError',
  'Map Set WeakMap WeakSet DisposableStack AsyncDisposableStack ArrayBuffer DataView',
  'Int8Array Uint8Array Uint8ClampedArray Int16Array Uint16Array Int32Array Uint32Array',
  'BigInt64Array BigUint64Array Float16Array Float32Array Float64Array',
].flatMap((line) => line.split(' '))

const { construct, defineProperty, deleteProperty } = Reflect

/**
 * What the harness lends to the author's `Math.random`, `crypto` and `Date`, which follow the environment that is running, and to
 * `console`.
 */
export type Sources = {
  random: () => number
  now: () => number
  log: (level: LogLevel, values: readonly unknown[]) => void
}

/**
 * Takes from the realm what a scenario must not have. Runs before any author's code, once: there is no way back, and no
 * reference to what was taken stays reachable, by `constructor` or otherwise.
 */
export function hardenRealm(sources: Sources): void {
  for (const name of Reflect.ownKeys(globalThis)) {
    if (!kept.includes(name as string)) deleteProperty(globalThis, name)
  }
  guardArrayBuffer()
  guardErrors()
  replaceDate(sources.now)
  define(Math, 'random', () => sources.random())
  define(
    globalThis,
    'crypto',
    seededCrypto(() => sources.random()),
  )
  replaceLocaleMethods()
  replaceConsole(sources.log)
}

function define(target: object, key: PropertyKey, value: unknown): void {
  defineProperty(target, key, { value, writable: true, enumerable: false, configurable: true })
}

/** Buffers that grow are not counted by the memory limit: a gigabyte fits under 64 MiB of it. */
function guardArrayBuffer(): void {
  const Native = ArrayBuffer
  function GuardedArrayBuffer(length: unknown, options?: { maxByteLength?: unknown }): object {
    if (new.target === undefined) throw new TypeError("Constructor ArrayBuffer requires 'new'")
    if (options?.maxByteLength !== undefined) throw new TypeError('Buffers in a scenario cannot be resized')
    return construct(Native, [length], new.target)
  }
  for (const name of ['resize', 'transfer', 'transferToFixedLength', 'transferToImmutable']) {
    deleteProperty(Native.prototype, name)
  }
  takeOver(Native, GuardedArrayBuffer, 'ArrayBuffer', 1)
  define(GuardedArrayBuffer, 'isView', Native.isView)
  const species = { get: returnThis, configurable: true }
  defineProperty(GuardedArrayBuffer, Symbol.species, species)
}

/** Puts `replacement` wherever `native` can be reached: the global name and the `constructor` of every instance. */
function takeOver(native: { prototype: object }, replacement: object, name: string, length: number): void {
  defineProperty(replacement, 'prototype', { value: native.prototype, writable: false, configurable: false })
  defineProperty(replacement, 'name', { value: name, configurable: true })
  defineProperty(replacement, 'length', { value: length, configurable: true })
  define(native.prototype, 'constructor', replacement)
  define(globalThis, name, replacement)
}

function returnThis(this: unknown): unknown {
  return this
}

/**
 * V8 calls `Error.prepareStackTrace` whenever a stack is read, also while an error leaves the isolate. It reads as
 * undefined for good; assigning it stays without effect, as packages do it.
 */
function guardErrors(): void {
  defineProperty(Error, 'prepareStackTrace', {
    get: () => undefined,
    set: () => {},
    enumerable: false,
    configurable: false,
  })
}

/** The machine's locale must not reach a trajectory. */
function replaceLocaleMethods(): void {
  const { toUpperCase, toLowerCase } = String.prototype
  define(String.prototype, 'localeCompare', function localeCompare(this: unknown, that: unknown): number {
    const a = `${this}`
    const b = `${that}`
    return a < b ? -1 : a > b ? 1 : 0
  })
  define(String.prototype, 'toLocaleUpperCase', toUpperCase)
  define(String.prototype, 'toLocaleLowerCase', toLowerCase)
  define(Number.prototype, 'toLocaleString', Number.prototype.toString)
  define(BigInt.prototype, 'toLocaleString', BigInt.prototype.toString)
  define(Array.prototype, 'toLocaleString', Array.prototype.toString)
  define(Object.getPrototypeOf(Int8Array.prototype), 'toLocaleString', Array.prototype.toString)
  for (const [locale, plain] of [
    ['toLocaleString', 'toString'],
    ['toLocaleDateString', 'toDateString'],
    ['toLocaleTimeString', 'toTimeString'],
  ] as const) {
    define(Date.prototype, locale, Date.prototype[plain])
  }
}

/** Calls that say something go to the harness; the others do nothing, so that packages that use them still run. */
function replaceConsole(log: Sources['log']): void {
  const methods: Record<string, (...values: unknown[]) => void> = {}
  for (const name of 'clear count countReset groupEnd time timeEnd timeLog'.split(' ')) methods[name] = () => {}
  for (const level of ['debug', 'error', 'info', 'log', 'trace', 'warn'] as const)
    methods[level] = (...values) => log(level, values)
  for (const name of 'dir dirxml group groupCollapsed table'.split(' '))
    methods[name] = (...values) => log('log', values)
  methods.assert = (condition, ...values) => {
    if (!condition) log('error', values)
  }
  define(globalThis, 'console', Object.freeze(methods))
}
