import type { ScenarioLogs } from '@agentgym/contract'
import { expect, test } from 'vitest'
import { buildScenario, identityOf } from './build-scenario.ts'
import { readLogs } from './guest-output.ts'
import { createSandboxedEnvironment } from './sandboxed-environment.ts'
import { harnessSource } from './scenario-code.ts'
import { countingScenario, validPackage, withFolder } from './testing/scenario-folder.ts'

type Played = { logs: ScenarioLogs[]; observations: number[]; error: unknown }

/** Plays three steps of a scenario whose `step` begins with `code`, and whose module begins with `top`. */
async function play(code: string, { top = '', keep = true } = {}): Promise<Played> {
  const source = top + countingScenario.replace('state.count += action', `${code}\nstate.count += action`)
  const scenario = await withFolder({ 'package.json': validPackage, 'src/index.ts': source }, buildScenario)
  const played: Played = { logs: [], observations: [], error: null }
  try {
    const environment = createSandboxedEnvironment({
      ...{ source: scenario.source, identity: identityOf(scenario), harness: await harnessSource() },
      ...{ environments: 1, seed: 1, plan: { split: 'train' } as const },
      logs: { keep, take: (logs) => played.logs.push(logs) },
    })
    environment.reset()
    for (let step = 0; step < 3; step++) {
      environment.step()
      played.observations.push(...environment.buffers.observations)
    }
    environment.takeLogs()
    environment.dispose()
  } catch (error) {
    played.error = error
  }
  return played
}

const textsOf = ({ logs }: Played) => logs.flatMap(({ entries }) => entries.map(({ text }) => text))

test.each([
  [`'it', 'is', 3, -0.5, true, null, undefined`, 'it is 3 -0.5 true null undefined'],
  ['{ a: 1, b: { c: [1, "two"] } }', '{ a: 1, b: { c: [1, "two"] } }'],
  ['[[[[1]]]], { a: { b: { c: {} } } }', '[[[[Array]]]] { a: { b: { c: [Object] } } }'],
  ['new Float32Array([0.5, 1]), [], {}', 'Float32Array [0.5, 1] [] {}'],
  ['new Map([["a", 1]]), new Set([1, 2])', 'Map { "a" => 1 } Set { 1, 2 }'],
  ['10n, Symbol("s"), () => 1, new Error("lost")', '10n Symbol() [Function] Error: lost'],
  ['"a\\tb\\nc\\u001b[31m\\u202e"', 'a b c [31m '],
  ['{ get a() { return 1 } }, Proxy.revocable({}, {}).proxy', '{ a: [Getter] } {}'],
])('console.log(%s)', async (values, text) => {
  expect(textsOf(await play(`console.log(${values})`))).toEqual([text, text, text])
})

test('each call comes with its level and the place where it was made', async () => {
  const top = "console.info('loading');"
  const { logs } = await play("console.warn('careful'); console.assert(state.count < 1, 'one')", { top })
  expect(logs.flatMap(({ entries }) => entries).slice(0, 2)).toEqual([
    { level: 'info', text: 'loading', phase: 'load' },
    { level: 'warn', text: 'careful', phase: 'step', environment: 0, episode: 0, step: 1 },
  ])
})

test('of a flood, the first and the last fifty calls are kept, long ones cut, and all are counted', async () => {
  const { logs } = await play("for (let i = 1; i <= 1_000; i++) console.log(i, 'x'.repeat(10_000))")
  const [{ calls, entries }] = logs
  expect([calls, entries.length]).toEqual([3_000, 100])
  expect(entries[49].text).toMatch(/^50 x+…$/)
  expect([entries[50].text.slice(0, 4), entries[99].text.slice(0, 5)]).toEqual(['951 ', '1000 '])
  expect(Math.max(...entries.map(({ text }) => text.length))).toBeLessThanOrEqual(501)
})

test('what was logged before a fault is there', async () => {
  const played = await play("console.log('so far'); if (state.luck < 2) throw new Error('no luck')")
  expect(textsOf(played)).toEqual(['so far'])
  expect(played.error).toMatchObject({ code: 'scenario_threw' })
})

test('logging changes no trajectory: nothing of the author runs for it', async () => {
  const code = `
    const count = () => { state.count += 1; return 'ran' }
    console.log({ get a() { return count() }, toString: count, toJSON: count, [Symbol.toPrimitive]: count, valueOf: count })
    class Named { get [Symbol.toStringTag]() { return count() } }
    console.log(new Named(), Object.defineProperty(new Error('x'), 'message', { get: count }))`
  const [kept, counted] = [await play(code), await play(code, { keep: false })]
  expect(kept.observations).toEqual(counted.observations)
  expect(kept.logs[0].entries).toHaveLength(6)
  expect(counted.logs).toEqual([{ calls: 6, entries: [] }])
})

test('built-ins that the scenario has replaced see and change nothing', async () => {
  const top = `
    let seen = 0
    const see = function () { seen += 1; return 'forged\\n' }
    for (const owner of [String, Array, Map, Set, Object, Number]) {
      for (const name of Object.getOwnPropertyNames(owner.prototype)) {
        if (name === 'constructor' || name.startsWith('__') || name === 'length') continue
        try { owner.prototype[name] = see } catch {}
      }
    }
    Object.defineProperty(Array.prototype, 3, { set: see, get: see, configurable: true });`
  const played = await play('console.log("a", [1], new Map([]), { b: 2 }, 5)', { top })
  expect(textsOf(played)[0]).toMatch(/^a \[1\] .*\{ b: 2 \} 5$/)
})

test('lines that the harness did not write are left out', () => {
  const line = 'log\t4\t0\t0\t1\ttext'
  const encoded = ['7', line, 'shout\t4\t0\t0\t1\ttext', 'log\t4\t0\ttext', 'log\t99\t0\t0\t1\tof no phase', ''].join(
    '\n',
  )
  const { calls, entries } = readLogs(encoded)
  expect(calls).toBe(7)
  expect(entries.map(({ text }) => text)).toEqual(['text', 'of no phase'])
  expect(readLogs('x'.repeat(1e6))).toEqual({ calls: 0, entries: [] })
  expect(readLogs(['1', ...Array(5_000).fill(line)].join('\n')).entries).toHaveLength(100)
})
