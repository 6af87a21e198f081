import { type Attack, scenarioWith, stepThat, struck } from './attack.ts'

const memory: Pick<Attack, 'expected' | 'phase'> = {
  expected: ['scenario_out_of_memory', 'scenario_timeout'],
  phase: 'step',
}
/** A bomb slower than its time limit ends by that: both are typed, both name the place. */
const memoryOrTime: Pick<Attack, 'expected' | 'phase'> = {
  expected: ['scenario_out_of_memory', 'scenario_timeout', 'scenario_crashed'],
  phase: 'step',
}
const patient = { crossingMs: 8_000, isolateMemoryMb: 64 }

/** What grows without end, or deep without end. */
export const memoryBombs: Attack[] = [
  {
    name: 'row 21: objects pushed on an array',
    entry: stepThat('const list = []; for (;;) list.push({ list })'),
    ...memory,
    limits: patient,
  },
  {
    name: 'row 21: while loading',
    entry: scenarioWith('', 'const list = []; for (;;) list.push({ list })'),
    expected: 'scenario_out_of_memory',
    phase: 'load',
    limits: { loadMs: 8_000, isolateMemoryMb: 64 },
  },
  {
    name: 'row 23: a Map that grows',
    entry: stepThat('const map = new Map(); for (let i = 0; ; i += 1) map.set(i, [i])'),
    ...memory,
    limits: patient,
  },
  {
    name: 'row 23: a Set that grows',
    entry: stepThat('const set = new Set(); for (let i = 0; ; i += 1) set.add(String(i))'),
    ...memory,
    limits: patient,
  },
  {
    name: 'row 23: symbols in the registry',
    entry: stepThat('for (let i = 0; ; i += 1) Symbol.for(String(i).repeat(9))'),
    ...memoryOrTime,
    limits: patient,
  },
  {
    name: 'row 24: one buffer of 1 GiB',
    entry: stepThat('new ArrayBuffer(2 ** 30)'),
    expected: 'scenario_out_of_memory',
    ...struck,
  },
  {
    name: 'row 25: buffers that grow',
    entry: stepThat(
      'const kept = []; for (;;) { const b = new ArrayBuffer(0, { maxByteLength: 2 ** 28 }); b.resize(2 ** 28); kept.push(b) }',
    ),
    expected: 'scenario_threw',
    ...struck,
    message: 'cannot be resized',
  },
  {
    name: 'row 25: growable shared memory',
    entry: stepThat('new SharedArrayBuffer(0, { maxByteLength: 2 ** 28 })'),
    expected: 'scenario_threw',
    ...struck,
    message: 'SharedArrayBuffer is not defined',
  },
  {
    name: 'row 25: the constructor of an instance',
    entry: stepThat('new (new Float32Array(1).buffer.constructor)(0, { maxByteLength: 2 ** 28 }).resize(2 ** 28)'),
    expected: 'scenario_threw',
    ...struck,
    message: 'cannot be resized',
  },
  {
    name: 'row 26: WebAssembly memory',
    entry: stepThat('new WebAssembly.Memory({ initial: 16384 })'),
    expected: 'scenario_threw',
    ...struck,
    message: 'WebAssembly is not defined',
  },
  {
    name: 'row 27: endless typed arrays',
    entry: stepThat('const kept = []; for (;;) kept.push(new Uint8Array(1000).fill(1))'),
    ...memory,
    limits: patient,
  },
  {
    name: 'row 27: large typed arrays',
    entry: stepThat('const kept = []; for (;;) kept.push(new Float64Array(1e6).fill(1))'),
    ...memory,
    limits: patient,
  },
  {
    name: 'row 29: endless recursion',
    entry: stepThat('(function deep() { deep(); deep() })()'),
    expected: 'scenario_threw',
    ...struck,
    message: 'call stack',
  },
  {
    name: 'row 29: recursion by nested JSON',
    // V8 parses without recursion, on a fast machine within the limit of a step; it writes with recursion.
    entry: stepThat("JSON.stringify(JSON.parse('['.repeat(1e6) + ']'.repeat(1e6)))"),
    expected: ['scenario_threw', 'scenario_timeout'],
    ...struck,
  },
  {
    name: 'row 29: recursion by nested parentheses',
    entry: stepThat("(0, eval)('('.repeat(1e6) + ')'.repeat(1e6))"),
    expected: ['scenario_threw', 'scenario_timeout'],
    ...struck,
  },
  {
    name: 'row 30: a string of 256 MB as the message of an Error',
    entry: stepThat("throw new Error('x'.repeat(2 ** 28))"),
    expected: ['scenario_threw', 'scenario_timeout'],
    ...struck,
  },
  {
    name: 'row 30: 100 MB in an unhandled rejection',
    entry: stepThat("(async () => { throw new Error('x'.repeat(1e8)) })()"),
    expected: ['scenario_threw', 'scenario_timeout', 'scenario_out_of_memory'],
    phase: 'step',
  },
  {
    name: 'row 32: a leak of 1 MiB a step',
    entry: scenarioWith(
      'step(state) { kept.push(new Array(131_072).fill(stepped)); return healthyStep(state) }',
      'const kept = []',
    ),
    ...memory,
    limits: patient,
    steps: 5_000,
  },
  {
    name: 'a string that doubles',
    entry: stepThat("let text = 'x'; const kept = []; for (;;) { text += text; kept.push([...text.slice(0, 1e6)]) }"),
    expected: ['scenario_out_of_memory', 'scenario_threw'],
    phase: 'step',
    limits: patient,
  },
  {
    name: 'BigInts kept',
    entry: stepThat('const kept = []; for (let i = 1n; ; i += 1n) kept.push((1n << 100000n) + i)'),
    ...memoryOrTime,
    limits: patient,
  },
  {
    name: 'closures and proxies kept',
    entry: stepThat('let chain = {}; for (;;) chain = new Proxy(chain, { get: () => chain })'),
    ...memoryOrTime,
    limits: patient,
  },
]
