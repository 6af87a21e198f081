/** A bundle whose `step` runs that code first. `attempts` is a list that the probe fills. */
export function withHostileStep(source: string, code: string): string {
  return `${source}
;(() => {
  const honest = module.exports.default ?? module.exports
  let steps = 0
  module.exports = { default: { ...honest, step(state, action, context) {
    const outcome = honest.step(state, action, context)
    steps += 1;
    ${code}
    return outcome
  } } }
})()`
}

/**
 * Tries every way out of the worker that a browser gives, at the first step; the second step's reward is how many of them had
 * an effect. (HAZARDS: capabilities of the realm, messages, floods, nested workers, access to the page.)
 */
export const probe = `
  if (steps === 1) {
    globalThis.effects = 0
    const names = ['fetch', 'XMLHttpRequest', 'WebSocket', 'EventSource', 'WebTransport', 'RTCPeerConnection', 'Worker',
      'SharedWorker', 'importScripts', 'postMessage', 'onmessage', 'addEventListener', 'dispatchEvent', 'self', 'parent',
      'top', 'opener', 'document', 'window', 'location', 'navigator', 'localStorage', 'indexedDB', 'caches', 'cookieStore',
      'BroadcastChannel', 'MessageChannel', 'setTimeout', 'setInterval', 'queueMicrotask', 'WebAssembly',
      'SharedArrayBuffer', 'Atomics', 'performance', 'close', 'name', 'origin', 'Blob', 'URL', 'FileReader', 'Notification',
      'structuredClone', 'reportError', 'scheduler', 'WeakRef', 'FinalizationRegistry', 'Intl']
    for (const name of names) if (typeof globalThis[name] !== 'undefined' || name in globalThis) effects += 1
    for (let held = Object.getPrototypeOf(globalThis); held !== null && held !== Object.prototype; held = Object.getPrototypeOf(held))
      effects += Reflect.ownKeys(held).filter((key) => typeof held[key] !== 'number').length
    const count = () => { effects += 1 }
    for (const address of ['data:text/javascript,export default 1', '/assets/x.js', 'https://example.com/x.js'])
      try { import(address).then(count, () => {}) } catch {}
    try { new Function('return fetch')()('/'); count() } catch {}
    try { (async () => {}).constructor('postMessage(1)')().then(count, () => {}) } catch {}
    try { new ArrayBuffer(8, { maxByteLength: 16 }); count() } catch {}
    if (Math.random() === Math.random() || Date.now() !== 1735689601000) count()
  }
  if (steps === 2) return { ...outcome, reward: effects }
`

type Attack = (source: string) => string

const inStep =
  (code: string): Attack =>
  (source) =>
    withHostileStep(source, code)

/** What a scenario may do to be ended, by name. */
export const hostileScenarios: Record<string, Attack> = {
  'loops-while-it-loads': (source) => `for (;;);\n${source}`,
  'loops-in-a-step': inStep('for (;;);'),
  backtracks: inStep("/(a+)+$/.test('a'.repeat(40) + 'b')"),
  'spins-in-microtasks': inStep('const spin = () => Promise.resolve().then(spin); spin()'),
  'never-settles': inStep('return new Promise(() => {})'),
  'closes-its-function': (source) => `}); for (;;); (function () {\n${source}`,
  'rewards-nothing': inStep('return { reward: NaN, terminated: false }'),
}
