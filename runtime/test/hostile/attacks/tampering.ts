import { scenarioWith } from './attack.ts'

/** A change to the language that must not reach the engine, by name: TypeScript that runs before the definition. */
const changes: Record<string, string> = {
  'row 38: Array.prototype methods throw':
    "for (const key of Object.getOwnPropertyNames(Array.prototype)) if (typeof Array.prototype[key] === 'function' && key !== 'constructor') Array.prototype[key] = () => { throw new Error(key) }",
  'row 38: arrays iterate otherwise':
    'Array.prototype[Symbol.iterator] = function* () { yield 99 }; Object.getPrototypeOf([][Symbol.iterator]()).next = () => ({ done: true })',
  'row 38: elements are seen by setters':
    "for (const key of ['0', '1', '2', '3']) for (const target of [Object.prototype, Array.prototype]) Object.defineProperty(target, key, { get: () => 99, set() { throw new Error('seen') }, configurable: true })",
  'row 38: typed arrays':
    "const typed = Object.getPrototypeOf(Float32Array.prototype); for (const key of ['set', 'fill', 'slice', 'subarray', 'length', 'byteLength', 'buffer']) Object.defineProperty(typed, key, { get: () => { throw new Error(key) }, configurable: true })",
  'row 38: global constructors':
    "for (const name of ['Float32Array', 'Float64Array', 'Int32Array', 'Uint8Array', 'Array', 'Object', 'Promise', 'Map', 'Set', 'String', 'Number', 'Symbol', 'TypeError', 'Error', 'JSON', 'Reflect', 'Proxy']) globalThis[name] = class { constructor() { throw new Error(name) } }",
  'row 38: Math':
    "for (const key of Object.getOwnPropertyNames(Math)) if (typeof Math[key] === 'function') Math[key] = () => 0.5",
  'row 38: JSON': "JSON.stringify = () => 'forged'; JSON.parse = () => ({ forged: true })",
  'row 38: toJSON of everything': "Object.defineProperty(Error.prototype, 'toJSON', { value: () => 'forged' })",
  'row 38: Promise':
    "Promise.prototype.then = () => { throw new Error('then') }; Promise.resolve = () => { throw new Error('resolve') }",
  'row 38: Function.prototype':
    "const refuse = () => { throw new Error('called') }; Function.prototype.call = refuse; Function.prototype.apply = refuse; Function.prototype.bind = refuse",
  'row 38: Object functions':
    'for (const key of Object.getOwnPropertyNames(Object)) if (typeof Object[key] === "function") try { Object[key] = () => { throw new Error(key) } } catch {}',
  'row 38: Reflect functions':
    'for (const key of Reflect.ownKeys(Reflect)) Reflect[key] = () => { throw new Error(String(key)) }',
  'row 38: numbers and strings':
    "Number.isInteger = () => false; Number.isFinite = () => false; for (const key of ['slice', 'charCodeAt', 'toString', 'valueOf', 'normalize']) String.prototype[key] = () => { throw new Error(key) }",
  'row 38: Symbol.species':
    "Object.defineProperty(Array, Symbol.species, { get() { throw new Error('species') } }); Object.defineProperty(Promise, Symbol.species, { get() { throw new Error('species') } })",
  'row 38: Object.prototype gains what results are asked for':
    "Object.defineProperty(Object.prototype, 'then', { value: undefined, writable: true }); Object.defineProperty(Object.prototype, 'get', { value: undefined, writable: true })",
  'row 40: names like those of the harness':
    "for (const name of ['harness', 'engine', 'module', 'exports', 'require', 'fault', 'guarded']) globalThis[name] = () => { throw new Error(name) }",
  'row 11: prepareStackTrace':
    "Error.prepareStackTrace = () => { throw new Error('stack') }; Error.stackTraceLimit = 1e9",
  'row 42: a flood of logging':
    "for (let i = 0; i < 1e5; i += 1) console.log('x'.repeat(1000), i, { get loop() { for (;;) {} } })",
  'row 43: eval and Function bring no authority':
    "const found = Function('return [typeof process, typeof require, typeof fetch, typeof setTimeout].join()')(); if (found !== 'undefined,undefined,undefined,undefined') throw new Error(found)",
  'row 23: symbols and globals kept':
    "for (let i = 0; i < 1000; i += 1) Symbol.for('kept' + i); globalThis.kept = [1, 2, 3]",
}

/** Scenarios that must play exactly as the healthy one does. */
export const harmless = Object.entries(changes).map(([name, change]) => ({ name, entry: scenarioWith('', change) }))
