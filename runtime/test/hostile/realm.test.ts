import vm from 'node:vm'
import { allocateBuffers, createEngine, describeScenario } from '@agentgym/scenario/engine'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type BuiltScenario, identityOf } from '../../src/sandbox/build-scenario.ts'
import { createSandboxedEnvironment, type SandboxedEnvironment } from '../../src/sandbox/sandboxed-environment.ts'
import { harnessSource } from '../../src/sandbox/scenario-code.ts'
import { scenarioWith } from './attacks/attack.ts'
import { buildText } from './run-environment.ts'

const seed = 7
const plan = { split: 'train' } as const

/** Nothing in this file is hostile: these scenarios run in this process. */
async function open(scenario: BuiltScenario, environments = 4): Promise<SandboxedEnvironment> {
  const harness = await harnessSource()
  return createSandboxedEnvironment({
    source: scenario.source,
    identity: identityOf(scenario),
    harness,
    environments,
    seed,
    plan,
  })
}

const guestFunction = "const report = (value) => { throw new Error('REPORT ' + value) }"

/** Runs `body` in the first step and returns what it passes to `report`. */
async function reportOf(body: string, before = ''): Promise<string> {
  const scenario = await buildText(
    scenarioWith(`step(state, action, context) { ${body}\n return healthyStep(state) }`, `${guestFunction}\n${before}`),
  )
  const environment = await open(scenario, 1)
  environment.reset()
  try {
    environment.step()
  } catch (error) {
    return String(error).match(/REPORT (.*?) \(environment/)?.[1] ?? String(error)
  } finally {
    environment.dispose()
  }
  return 'nothing was reported'
}

describe('what a guest can reach', () => {
  // Walks every property, prototype, getter and entry from everything that a guest is given.
  const walk = `
    const seen = new Set()
    const odd = []
    const queue = [['global', globalThis], ['state', state], ['action', action], ['context', context], ['arguments', arguments], ['this', this], ['module', typeof module === 'object' ? module : null]]
    const tag = (value) => Object.prototype.toString.call(value).slice(8, -1)
    while (queue.length > 0) {
      const [path, value] = queue.pop()
      if ((typeof value !== 'object' && typeof value !== 'function') || value === null || seen.has(value)) continue
      seen.add(value)
      if (/SharedArrayBuffer|WebAssembly|Atomics/.test(tag(value))) odd.push(path + ' is ' + tag(value))
      if (ArrayBuffer.isView(value) && tag(value.buffer) !== 'ArrayBuffer') odd.push(path + ' is shared')
      if (typeof value === 'function') {
        const text = Function.prototype.toString.call(value)
        const native = /\\[native code\\]/.test(text)
        if (native && /^(Isolate|Context|Script|Module|Reference|ExternalCopy|Callback|NativeModule|InspectorSession)$/.test(value.name)) odd.push(path + ' is ' + value.name)
      }
      if ('isolate' in value || 'applySync' in value || 'derefInto' in value) odd.push(path + ' is a handle')
      for (const key of Reflect.ownKeys(value)) {
        const descriptor = Reflect.getOwnPropertyDescriptor(value, key)
        const name = path + '.' + String(key)
        queue.push([name, descriptor.value], [name + '[get]', descriptor.get], [name + '[set]', descriptor.set])
      }
      queue.push([path + '.__proto__', Reflect.getPrototypeOf(value)])
      if (tag(value) === 'Map' || tag(value) === 'Set') try { for (const entry of value) queue.push([path + '[entry]', entry]) } catch {}
    }
    report(seen.size > 500 ? 'odd: ' + odd.join(', ') : 'only ' + seen.size + ' seen')`

  test('no handle of isolated-vm, no shared memory, by any path', async () => {
    expect(await reportOf(walk)).toMatch(/^odd: ?$/)
  })

  test('no global beside the language', async () => {
    const names = await reportOf(
      'report(Object.getOwnPropertyNames(globalThis).filter((name) => !/^[A-Z]/.test(name)).join())',
    )
    expect(names).toBe(
      'parseFloat,parseInt,undefined,globalThis,decodeURI,decodeURIComponent,encodeURI,encodeURIComponent,escape,unescape,eval,isFinite,isNaN,crypto,console',
    )
  })

  test('no buffer of another environment: what a step is given is its own', async () => {
    const body =
      'kept.push(action, context, context.rng); if (kept.length > 3) report(kept.some((value) => ArrayBuffer.isView(value)))'
    expect(await reportOf(`${body}; ${body}`, 'const kept = []')).toBe('false')
  })

  test('a stack trace names the scenario, and no path of this machine', async () => {
    const stack = await reportOf("report(new Error('x').stack.replaceAll('\\n', ' '))")
    expect(stack).toContain('scenario.js')
    expect(stack).not.toMatch(/file:|node:|\/work|\/root|\/home|node_modules/)
  })
})

describe('randomness, time and locale', () => {
  let environments: SandboxedEnvironment[]
  beforeAll(async () => {
    const scenario = await buildText(
      scenarioWith(
        `
        observation: box({ shape: [4] }),
        reset: ({ rng }) => ({ time: 0, luck: rng(), other: Math.random(), now: Date.now() - loaded }),
        step(state) { state.other = Math.random(); state.now = new Date() - loaded; return healthyStep(state) },
        observe: (state) => [state.luck, state.other, state.now, new Date(0).getHours() + 'ä'.localeCompare('z') + (1234.5).toLocaleString().length],
      `,
        'const loaded = Date.now(); const atLoad = Math.random()',
      ),
    )
    environments = [await open(scenario), await open(scenario), await open(scenario, 1)]
    for (const environment of environments) environment.reset()
  })
  afterAll(() => environments.forEach((environment) => void environment.dispose()))

  const rows = (environment: SandboxedEnvironment) =>
    Array.from({ length: environment.environments }, (_, row) => [
      ...environment.buffers.observations.subarray(row * 4, row * 4 + 4),
    ])

  test('B18: equal for a seed, different between environments, independent of their number', () => {
    for (let step = 0; step < 25; step++) {
      const [four, again, alone] = environments.map(rows)
      expect(again).toEqual(four)
      expect(alone[0]).toEqual(four[0])
      expect(new Set(four.map(([luck]) => luck)).size).toBe(4)
      expect(new Set(four.map(([, other]) => other)).size).toBe(4)
      for (const environment of environments) environment.step()
    }
  })

  test('Date stands still within a step, moves with the episode, and is virtual by every constructor', async () => {
    const report = await reportOf(
      'const one = Date.now(); const two = new Date().getTime(); const three = new (new Date().constructor)().getTime(); report([one === two, two === three, Date().includes("2025"), new Date(0).toISOString(), new Date(2020, 0, 2) instanceof Date, Date.length, Date.name].join())',
    )
    expect(report).toBe('true,true,true,1970-01-01T00:00:00.000Z,true,7,Date')
  })
})

test('row 52: nothing is carried from one load to the next', async () => {
  const before = 'globalThis.loads = (globalThis.loads ?? 0) + 1; Symbol.for("loads"); Object.prototype.loads = 1'
  const scenario = await buildText(scenarioWith('observe: (state) => [globalThis.loads, Math.random()]', before))
  const [one, other] = [await open(scenario), await open(scenario)]
  one.reset()
  other.reset()
  expect(one.buffers.observations[0]).toBe(1)
  expect(other.buffers.observations).toEqual(one.buffers.observations)
  one.dispose()
  other.dispose()
})

test('after a fault an environment refuses everything', async () => {
  const environment = await open(await buildText(scenarioWith('step() { throw new Error("no") }')))
  environment.reset()
  expect(() => environment.step()).toThrow('no')
  for (const use of [() => environment.step(), () => environment.reset(), () => environment.metricNames()]) {
    expect(use).toThrow('disposed of')
  }
  environment.dispose()
})

test('the sandboxed trajectory is the native one, bit for bit', async () => {
  const scenario = await buildText(
    scenarioWith(`
      step(state, action, { rng }) { state.luck = Math.sin(state.luck * 12.9898 + action) * rng.normal(0, 3); return { reward: Math.exp(-state.luck * state.luck), terminated: ++state.time > 5 && rng() < 0.1 } },
      metrics: (state) => ({ luck: state.luck }),
    `),
  )
  const environments = 32
  const module: { exports: { default?: unknown } } = { exports: {} }
  vm.runInThisContext(`(function (module, exports) {${scenario.source}\n})`)(module, module.exports)
  const description = describeScenario(module.exports.default)
  const buffers = allocateBuffers(environments, description.sizes)
  const native = createEngine(module.exports.default, description, { environments, seed, plan }, buffers)
  const sandboxed = await open(scenario, environments)
  expect(sandboxed.description).toEqual(description)
  native.reset()
  sandboxed.reset()
  for (let step = 0; step < 500; step++) {
    for (let row = 0; row < environments; row++) {
      buffers.actions[row] = sandboxed.buffers.actions[row] = (row * 5 + step * 3) % 2
    }
    native.step()
    sandboxed.step()
    for (const key of ['observations', 'finalObservations', 'rewards', 'flags', 'episodeReturns', 'metrics'] as const) {
      expect(Buffer.from(sandboxed.buffers[key].buffer).equals(Buffer.from(buffers[key].buffer)), key).toBe(true)
    }
  }
  expect(sandboxed.metricNames()).toEqual(native.metricNames())
  sandboxed.dispose()
})
