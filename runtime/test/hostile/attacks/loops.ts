import { type Attack, scenarioWith, stepThat, struck } from './attack.ts'

const timeout = { expected: 'scenario_timeout', ...struck } as const
const loop = 'for (;;) {}'
const proxy = 'new Proxy({}, { get() { for (;;) {} }, getPrototypeOf() { for (;;) {} }, has() { for (;;) {} } })'
/** A rejection that nobody handles is copied out of the isolate by isolated-vm, without a timeout. */
const reject = (value: string) => stepThat(`(async () => { throw ${value} })()`)

/** What never ends: each must be ended within its limit, inside the isolate or by the supervisor. */
export const loops: Attack[] = [
  {
    name: 'row 1: endless loop at the top level',
    entry: scenarioWith('', loop),
    expected: 'scenario_timeout',
    phase: 'load',
    limits: { loadMs: 500 },
  },
  {
    name: 'row 2: endless loop in a getter of the definition',
    entry: `export default { get observation() { ${loop} } }`,
    expected: 'scenario_timeout',
    phase: 'define',
    limits: { loadMs: 500 },
  },
  {
    name: 'row 2: endless loop in reset',
    entry: scenarioWith(`reset() { ${loop} }`),
    expected: 'scenario_timeout',
    phase: 'reset',
    environment: 0,
  },
  { name: 'row 2: endless loop in step', entry: stepThat(loop), ...timeout },
  {
    name: 'row 2: endless loop in observe',
    entry: scenarioWith(`observe() { ${loop} }`),
    expected: 'scenario_timeout',
    phase: 'observe',
    environment: 0,
  },
  {
    name: 'row 2: endless loop in actionMask',
    entry: scenarioWith(`actionMask() { ${loop} }`),
    expected: 'scenario_timeout',
    phase: 'actionMask',
    environment: 0,
  },
  {
    name: 'row 2: endless loop in metrics',
    entry: scenarioWith(`metrics() { ${loop} }`),
    expected: 'scenario_timeout',
    phase: 'metrics',
    environment: 0,
    step: 20,
  },
  {
    name: 'row 3: catastrophic regular expression',
    entry: stepThat("/^(a+)+$/.test('a'.repeat(50) + 'b')"),
    ...timeout,
  },
  {
    name: 'row 4: spinning then',
    entry: stepThat(`Promise.resolve().then(() => { ${loop} })`),
    expected: 'scenario_timeout',
    phase: 'step',
  },
  {
    name: 'row 5: endless microtasks',
    entry: stepThat('(async () => { for (;;) await 0 })()'),
    expected: 'scenario_timeout',
    phase: 'step',
  },
  {
    name: 'row 7, B21: a promise that never settles',
    entry: scenarioWith('async step(state) { if (hit()) await new Promise(() => {}); return healthyStep(state) }'),
    ...timeout,
    message: 'never settles',
  },
  {
    name: 'row 7, B21: a loop after an await',
    entry: scenarioWith(`async step(state) { await 0; if (hit()) ${loop} return healthyStep(state) }`),
    ...timeout,
  },
  {
    name: 'row 7: reset waits for ever',
    entry: scenarioWith('reset: () => new Promise(() => {})'),
    expected: 'scenario_timeout',
    phase: 'reset',
    environment: 0,
    message: 'never settles',
  },
  {
    name: 'row 7: an async generator as the state, never advanced',
    entry: scenarioWith(
      'async step(state) { if (hit()) { const g = (async function* () { await new Promise(() => {}); yield 1 })(); await g.next() } return healthyStep(state) }',
    ),
    ...timeout,
  },
  {
    name: 'a thenable whose then never calls back',
    entry: stepThat('return { then() {} }'),
    ...timeout,
    message: 'never settles',
  },
  {
    name: 'a thenable whose then loops',
    entry: stepThat(`return { then() { ${loop} } }`),
    expected: 'scenario_timeout',
    phase: 'step',
  },
  {
    name: 'row 8: thrown Error with a looping message',
    entry: stepThat(`throw Object.defineProperty(new Error('x'), 'message', { get() { ${loop} } })`),
    ...timeout,
  },
  {
    name: 'row 8: thrown Error with a looping stack',
    entry: stepThat(`throw Object.defineProperty(new Error('x'), 'stack', { get() { ${loop} } })`),
    ...timeout,
  },
  {
    name: 'row 8: unhandled rejection with a looping message',
    entry: reject(`Object.defineProperty(new Error('x'), 'message', { get() { ${loop} } })`),
    expected: 'scenario_timeout',
    phase: 'step',
  },
  {
    name: 'row 8: unhandled rejection with a looping name',
    entry: reject(`new (class Odd extends Error { get name() { ${loop} } })('x')`),
    expected: 'scenario_timeout',
    phase: 'step',
  },
  { name: 'row 9: thrown Proxy', entry: stepThat(`throw ${proxy}`), ...timeout },
  {
    name: 'row 9: unhandled rejection with a Proxy',
    entry: reject(proxy),
    expected: 'scenario_timeout',
    phase: 'step',
  },
  {
    name: 'row 9: Proxy thrown while loading',
    entry: scenarioWith('', `throw ${proxy}`),
    expected: 'scenario_timeout',
    phase: 'load',
    limits: { loadMs: 500 },
  },
  {
    name: 'row 11: prepareStackTrace that loops, then a stack overflow',
    entry: stepThat(`Error.prepareStackTrace = () => { ${loop} }; (function deep() { deep() })()`),
    expected: 'scenario_threw',
    ...struck,
    message: 'call stack',
  },
  {
    name: 'row 17: Array(1e8).fill(0)',
    entry: stepThat('new Array(1e8).fill(0)'),
    expected: ['scenario_timeout', 'scenario_out_of_memory', 'scenario_crashed'],
    phase: 'step',
  },
  {
    name: 'row 18: a sort of 5 M elements',
    entry: stepThat('for (;;) Array.from({ length: 5e6 }, (_, i) => -i).sort((a, b) => a - b)'),
    expected: ['scenario_timeout', 'scenario_out_of_memory'],
    phase: 'step',
  },
  {
    name: 'row 19: a typed sort of 5 M elements',
    entry: stepThat('for (;;) new Float64Array(5e6).map((_, i) => Math.sin(i)).sort()'),
    expected: ['scenario_timeout', 'scenario_out_of_memory'],
    phase: 'step',
  },
  {
    name: 'row 20: every step just below its timeout',
    entry: scenarioWith(
      "step(state) { for (let i = 0; i < 40; i += 1) /^(a+)+$/.test('a'.repeat(21) + 'b'); return healthyStep(state) }",
    ),
    expected: 'scenario_timeout',
    phase: 'step',
    limits: { crossingMs: 3_000, meanStepMs: 5 },
    steps: 2_000,
  },
  {
    name: 'a BigInt that squares itself',
    entry: stepThat('let b = 3n; for (;;) b = b * b'),
    expected: ['scenario_timeout', 'scenario_threw', 'scenario_out_of_memory', 'scenario_crashed'],
    phase: 'step',
  },
  {
    name: 'an iterator that never ends, as an observation',
    entry: scenarioWith('observe: () => ({ *[Symbol.iterator]() { for (;;) yield 1 } })'),
    expected: 'observation_invalid',
    phase: 'observe',
  },
  { name: 'a Proxy whose traps loop, as the result of step', entry: stepThat(`return ${proxy}`), ...timeout },
]
