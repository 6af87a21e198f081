import { type Attack, scenarioWith, stepThat, struck } from './attack.ts'

const threw = { expected: 'scenario_threw', ...struck } as const
const gone = (expression: string, name: string): Attack => ({
  name: `no ${name}`,
  entry: stepThat(`return ${expression}`),
  ...threw,
  message: `${name} is not defined`,
})

/** What reaches for something outside: the capability is absent, and the attempt fails like other errors do. */
export const reaches: Attack[] = [
  gone('process.exit(0)', 'process'),
  gone("globalThis.constructor.constructor('return process')().exit(0)", 'process'),
  gone(
    "(async () => {}).constructor('return process.pid')().then((pid) => ({ reward: pid, terminated: false }))",
    'process',
  ),
  gone("fetch('http://127.0.0.1')", 'fetch'),
  gone('setTimeout(() => {}, 0)', 'setTimeout'),
  gone('setInterval(() => {}, 0)', 'setInterval'),
  gone('queueMicrotask(() => {})', 'queueMicrotask'),
  gone('structuredClone({})', 'structuredClone'),
  gone('new Worker("x")', 'Worker'),
  gone('Buffer.from("x")', 'Buffer'),
  gone('performance.now()', 'performance'),
  gone('Atomics.wait(new Int32Array(4), 0, 0)', 'Atomics'),
  gone('Atomics.waitAsync(new Int32Array(4), 0, 0)', 'Atomics'),
  gone('new FinalizationRegistry(() => { for (;;) {} })', 'FinalizationRegistry'),
  gone('new WeakRef({})', 'WeakRef'),
  gone('WebAssembly.compile(new Uint8Array(8)).then(() => { for (;;) {} })', 'WebAssembly'),
  gone("new Intl.DateTimeFormat('de')", 'Intl'),
  { name: 'row 44: require', entry: stepThat("const load = eval('require'); load('node:fs')"), ...threw },
  {
    name: 'row 44: require of the bundle',
    entry:
      'declare const require: (name: string) => unknown\nconst name = ["node", "fs"].join(":")\nexport default require(name)',
    expected: 'scenario_threw',
    phase: 'load',
  },
  {
    name: 'row 44: import() of a computed name',
    entry: scenarioWith(
      "async step() { await import(['node', 'fs'].join(':')); return { reward: 1, terminated: false } }",
    ),
    expected: 'scenario_threw',
    phase: 'step',
    environment: 0,
    step: 1,
  },
  {
    name: 'row 43: Function cannot see the harness',
    entry: stepThat("return Function('return typeof harness + engine')()"),
    ...threw,
    message: 'engine is not defined',
  },
  { name: 'row 54: natives syntax', entry: stepThat("eval('%DebugPrint(1)')"), ...threw },
  {
    name: 'the callers of a step cannot be walked to the harness',
    entry: stepThat('return arguments.callee.caller'),
    ...threw,
  },
]
