import { type Attack, scenarioWith, stepThat, struck } from './attack.ts'

const reward = (value: string): Attack['entry'] => stepThat(`return { reward: ${value}, terminated: false }`)
const observation = (value: string): Attack['entry'] => scenarioWith(`observe: (state) => ${value}`)
const badReward = { expected: 'reward_not_finite', ...struck } as const
const badObservation = { expected: 'observation_invalid', phase: 'observe', environment: 0 } as const
const threw = { expected: 'scenario_threw', ...struck } as const

/** Results that mean nothing: never coerced, never a zero. */
export const badResults: Attack[] = [
  { name: 'row 33, B14: reward NaN', entry: reward('NaN'), ...badReward },
  { name: 'row 33: reward Infinity', entry: reward('Infinity'), ...badReward },
  { name: 'row 33: reward -Infinity', entry: reward('-Infinity'), ...badReward },
  { name: 'row 33: reward 1e308, infinite in float32', entry: reward('1e308'), ...badReward },
  { name: 'row 33: reward as a string', entry: reward("'1'"), ...badReward },
  { name: 'row 33: reward as a BigInt', entry: reward('1n'), ...badReward },
  { name: 'row 33, B14: reward undefined', entry: reward('undefined'), ...badReward },
  { name: 'row 33: reward null', entry: reward('null'), ...badReward },
  { name: 'row 33: reward as an object with valueOf', entry: reward('{ valueOf: () => 1 }'), ...badReward },
  { name: 'row 33: step returns nothing', entry: stepThat('return'), expected: 'scenario_invalid', ...struck },
  {
    name: 'row 33: terminated is not a boolean',
    entry: stepThat('return { reward: 1, terminated: 1 }'),
    expected: 'scenario_invalid',
    ...struck,
  },
  { name: 'row 34: observation too short', entry: observation('[1]'), ...badObservation },
  { name: 'row 34: observation too long', entry: observation('[1, 2, 3]'), ...badObservation },
  { name: 'row 34: observation with NaN', entry: observation('[1, NaN]'), ...badObservation },
  { name: 'row 34: observation with a string', entry: observation("[1, '2']"), ...badObservation },
  { name: 'row 34: observation with a hole', entry: observation('[1, ,]'), ...badObservation },
  { name: 'row 34, B20: 1e39 in float32', entry: observation('[1, 1e39]'), ...badObservation },
  { name: 'row 34: observation undefined', entry: observation('undefined'), ...badObservation },
  { name: 'row 34: observation in BigInt64', entry: observation('new BigInt64Array(2)'), ...badObservation },
  {
    name: 'row 34: an array-like with a lying length',
    entry: observation('({ length: 2, 0: 1, 1: 2 })'),
    ...badObservation,
  },
  {
    name: 'row 35: a getter that throws in the result',
    entry: stepThat("return { get reward() { throw new Error('no') }, terminated: false }"),
    ...threw,
    message: 'no',
  },
  {
    name: 'row 35: a getter as the reward that changes',
    entry: stepThat(
      'let reads = 0; return { get reward() { reads += 1; return reads > 1 ? NaN : Infinity }, terminated: false }',
    ),
    ...badReward,
  },
  {
    name: 'row 35: a revoked Proxy as the result',
    entry: stepThat('const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); return proxy'),
    ...threw,
  },
  {
    name: 'row 35: a Proxy as the observation',
    entry: observation(
      "new Proxy([1, 2], { get(target, key) { if (key === '1') throw new Error('trap'); return target[key] } })",
    ),
    expected: ['scenario_threw', 'observation_invalid'],
    phase: 'observe',
  },
  { name: 'row 36: throw null', entry: stepThat('throw null'), ...threw, message: 'null' },
  { name: 'row 36: throw undefined', entry: stepThat('throw undefined'), ...threw, message: 'undefined' },
  { name: 'row 36: throw a symbol', entry: stepThat("throw Symbol('s')"), ...threw, message: 'symbol' },
  { name: 'row 36: throw a function', entry: stepThat('throw () => {}'), ...threw, message: 'function' },
  {
    name: 'row 36: throw an object whose toString throws',
    entry: stepThat("throw { toString() { throw new Error('twice') }, get message() { throw new Error('thrice') } }"),
    ...threw,
  },
  {
    name: 'row 36: unhandled rejection with null',
    entry: stepThat('(async () => { throw null })()'),
    expected: 'scenario_threw',
    phase: 'step',
  },
  {
    name: 'row 36: unhandled rejection with a symbol',
    entry: stepThat("(async () => { throw Symbol('s') })()"),
    expected: 'scenario_threw',
    phase: 'step',
  },
  {
    name: 'B14: reset throws',
    entry: scenarioWith("reset() { throw new Error('scorer down') }"),
    expected: 'scenario_threw',
    phase: 'reset',
    environment: 0,
    message: 'scorer down',
  },
  {
    name: 'metrics that are not numbers',
    entry: scenarioWith("metrics: () => ({ solved: 'yes' })"),
    expected: 'metrics_invalid',
    phase: 'metrics',
    environment: 0,
    step: 20,
  },
  {
    name: 'B06: no legal action',
    entry: scenarioWith(
      'actionMask: (state) => state.time < 3 || stepped % 4 !== 1 ? [true, true] : [false, false], step(state) { hit(); return healthyStep(state) }',
    ),
    expected: 'no_legal_action',
    phase: 'actionMask',
    environment: 1,
    step: 3,
  },
  {
    name: 'a mask of the wrong length',
    entry: scenarioWith('actionMask: () => [true]'),
    expected: 'mask_invalid',
    phase: 'actionMask',
    environment: 0,
  },
  {
    name: 'a mask of numbers that are no booleans',
    entry: scenarioWith("actionMask: () => ['yes', 'no']"),
    expected: 'mask_invalid',
    phase: 'actionMask',
  },
  {
    name: 'row 53: terminal escapes, newlines and 1 MB in an error',
    entry: stepThat("throw new Error('\\u001b[2J\\u202e\\nfake line' + 'x'.repeat(1e6))"),
    ...threw,
    message: /^[^\p{Cc}\p{Cf}]{1,1000}$/u,
  },
  { name: 'no definition at all', entry: 'export default 7', expected: 'scenario_invalid', phase: 'define' },
  {
    name: 'row 51: a definition whose spaces lie',
    entry: scenarioWith("observation: { type: 'box', shape: [1e9], low: [], high: [] }"),
    expected: 'scenario_invalid',
    phase: 'define',
    message: /observation\.shape\[0\]/,
  },
]
