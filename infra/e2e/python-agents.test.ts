// @module-tag full
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type Decision, loadAgent } from '@agentgym/agent'
import { greedyActions, loadModelSession } from '@agentgym/agent/engine'
import { tokenize } from '@agentgym/scenario'
import { describeScenario } from '@agentgym/scenario/engine'
import { pythonEnvironment, runPytest } from '@agentgym/testkit/python'
import { afterAll, beforeAll, it } from 'vitest'
import { forgetEnded } from '../../runtime/src/policy/policy-session.ts'
import { testRandom } from '../../runtime/src/policy/testing/policy-cases.ts'
import { createNativeEnvironment } from '../../runtime/src/rollout/testing/native-environment.ts'
import { writeRandomAgent } from '../../runtime/test/random-agent.ts'
import { sampleMask, sampleOf, testedSpaces } from './python/sampled-spaces.ts'

const plugins = join(import.meta.dirname, '../../plugins')
const names = globSync('*/package.json', { cwd: plugins }).map(dirname).sort()
const STEPS = 60
/** As many as an evaluation plays at once. */
const ROWS = 64

const home = mkdtempSync(join(tmpdir(), 'agentgym-python-'))
afterAll(() => rmSync(home, { recursive: true }))
let python: string
beforeAll(async () => {
  python = await pythonEnvironment('agent')
})

/** What an agent sees in a step; `state` only where the episode goes on. */
type Step = { observation: unknown; mask: unknown; begins: boolean }

/** Lets an agent act upon recorded steps, greedily and by chance, and writes all of it beside the agent's folder. */
async function record(folder: string, steps: Step[], samples: boolean): Promise<void> {
  const agent = await loadAgent(folder)
  const decisions: Decision[] = []
  for (const { observation, mask, begins } of steps) {
    const state = begins ? null : (decisions.at(-1)?.state ?? null)
    decisions.push(agent.act(observation, { mask, state }))
  }
  agent.dispose()
  const drawing = await loadAgent(folder, { seed: 7 })
  const drawn = samples
    ? steps.map(({ observation, mask }) => drawing.act(observation, { mask, deterministic: false }))
    : []
  const [observations, masks] = [steps.map(({ observation }) => observation), steps.map(({ mask }) => mask ?? null)]
  const batch = samples ? drawing.actBatch(observations, { masks, deterministic: false }) : []
  drawing.dispose()
  writeFileSync(`${folder}.json`, JSON.stringify(plain({ steps, decisions, drawn, batch })))
}

/** Typed arrays as lists, as JSON would not have them. */
function plain(value: unknown): unknown {
  if (ArrayBuffer.isView(value)) return Array.from(value as Float32Array)
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plain(inner)]))
}

type Definition = { observe(state: unknown): unknown; actionMask?(state: unknown): unknown }

/** Steps of held-out episodes as the evaluation plays them with this agent. */
function playedSteps(definition: Definition, { policy, model }: ReturnType<typeof writeRandomAgent>): Step[] {
  const seen: Omit<Step, 'begins'> = { observation: null, mask: null }
  const watched = {
    ...definition,
    observe(state: unknown) {
      seen.observation = definition.observe.call(definition, state)
      return seen.observation
    },
    ...(definition.actionMask && {
      actionMask(state: unknown) {
        seen.mask = definition.actionMask?.call(definition, state)
        return seen.mask
      },
    }),
  }
  const plan = { split: 'eval', episodes: 1_000 } as const
  const { buffers, description, reset, step } = createNativeEnvironment(watched, { environments: 1, seed: 3, plan })
  const session = loadModelSession(model, policy, { batch: ROWS })
  const rows = new Float32Array(ROWS * description.sizes.observation)
  reset()
  const steps = Array.from({ length: STEPS }, (_, i) => {
    const seenNow = { ...structuredClone(seen), begins: i === 0 || buffers.flags[0] !== 0 }
    rows.set(buffers.observations)
    forgetEnded({ ...session, batch: ROWS }, buffers.flags)
    session.run(rows)
    const masks = description.masked ? buffers.masks : null
    greedyActions({ spec: policy, distribution: session.distribution, masks, rows: 1 }, buffers.actions)
    step()
    return seenNow
  })
  session.dispose()
  return steps
}

it('Python acts as TypeScript on every built-in scenario, bit for bit', { timeout: 300_000 }, async () => {
  const folder = join(home, 'built-in')
  mkdirSync(folder)
  for (const name of names) {
    const { default: definition } = (await import(join(plugins, name, 'src/index.ts'))) as { default: Definition }
    const description = describeScenario(definition)
    const agent = writeRandomAgent(join(folder, name), name, description, description.memory)
    await record(agent.folder, playedSteps(definition, agent), true)
  }
  await compare(folder)
})

it('… and on every kind of space and network, with hashed and with encoded texts', { timeout: 300_000 }, async () => {
  const folder = join(home, 'spaces')
  mkdirSync(folder)
  for (const [i, { name, observation, action, network }] of testedSpaces.entries()) {
    writeRandomAgent(join(folder, name), name, { observation, action }, false, false, network)
    calibrate(join(folder, name, 'agent.json'))
    const random = testRandom(i)
    const isMasked = !['squashed'].includes(name)
    const steps = Array.from({ length: 20 }, (_, step) => ({
      observation: sampleOf(observation, random),
      mask: isMasked && step % 2 === 1 ? sampleMask(action, random) : null,
      begins: step % 5 === 0,
    }))
    await record(join(folder, name), steps, network?.head?.endsWith('q') !== true)
  }
  await compare(folder)
})

/** Gives an agent a confidence. */
function calibrate(path: string): void {
  const confidence = { method: 'platt', slope: 0.7, intercept: -0.4, episodes: 10, choices: 20, seed: 1 }
  writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')), confidence }))
}

it('Python splits every character into words as TypeScript does', { timeout: 300_000 }, async () => {
  const folder = join(home, 'texts')
  mkdirSync(folder)
  const points = Array.from({ length: 0x32_400 }, (_, point) => point).filter(
    (point) => point < 0xd800 || point > 0xdfff,
  )
  const ids = points.flatMap((point) =>
    tokenize(`a${String.fromCodePoint(point)}b`, { maxTokens: 4, vocabulary: 2 ** 20 }),
  )
  writeFileSync(join(folder, 'tokens.bin'), Int32Array.from(ids))
  await runPytest(python, ['tests/test_tokens.py'], {
    environment: { AGENTGYM_TEST_TOKENS: join(folder, 'tokens.bin') },
  })
})

async function compare(recordings: string): Promise<void> {
  await runPytest(python, ['tests/test_recorded_agents.py'], { environment: { AGENTGYM_TEST_RECORDINGS: recordings } })
}
