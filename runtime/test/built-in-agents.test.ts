import { globSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { loadAgent } from '@agentgym/agent'
import { greedyActions, loadModelSession } from '@agentgym/agent/engine'
import { type JsonSchema, maskSchema, observationSchema, type SpaceDescription } from '@agentgym/contract'
import { afterAll, expect, test } from 'vitest'
import { z } from 'zod'
import { forgetEnded } from '../src/policy/policy-session.ts'
import { createNativeEnvironment } from '../src/rollout/testing/native-environment.ts'
import { writeRandomAgent } from './random-agent.ts'

const plugins = join(import.meta.dirname, '../../plugins')
const names = globSync('*/package.json', { cwd: plugins }).map(dirname).sort()
const STEPS = 60
/** As many as an evaluation plays at once. */
const ROWS = 64

const home = mkdtempSync(join(tmpdir(), 'agentgym-agents-'))
afterAll(() => rmSync(home, { recursive: true }))

type Definition = {
  observe(state: unknown): unknown
  actionMask?(state: unknown): unknown
  step(state: unknown, action: unknown, given: unknown): unknown
}

/** What the scenario itself last observed, allowed, and was told to do. */
type Seen = { observation?: unknown; mask?: unknown; action?: unknown }

function watched(definition: Definition, seen: Seen): Definition {
  return {
    ...definition,
    observe(state) {
      seen.observation = definition.observe.call(definition, state)
      return seen.observation
    },
    ...(definition.actionMask && {
      actionMask(state: unknown) {
        seen.mask = definition.actionMask?.call(definition, state)
        return seen.mask
      },
    }),
    step(state, action, given) {
      seen.action = structuredClone(action)
      return definition.step.call(definition, state, action, given)
    },
  }
}

/** The action that `step` got, in the words and ids of a decision. */
function inWords(space: SpaceDescription, action: unknown, observation: unknown): unknown {
  if (space.type === 'box') return ArrayBuffer.isView(action) ? Array.from(action as Float32Array) : action
  if (space.type === 'discrete' && space.list !== undefined) {
    return (observation as Record<string, { id: string }[]>)[space.list][action as number].id
  }
  if (space.type !== 'dict') return action
  const parts = action as Record<string, unknown>
  return Object.fromEntries(
    space.entries
      .filter(({ name }) => Object.hasOwn(parts, name))
      .map(({ name, space: inner }) => {
        const part = inWords(inner, parts[name], observation)
        const isWord = inner.type === 'discrete' && inner.labels !== undefined && name !== space.choice
        return [name, isWord ? inner.labels?.[(part as number) - inner.start] : part]
      }),
  )
}

test.each(names)('an agent of %s acts in a program as in its evaluation', async (name) => {
  const { default: definition } = (await import(join(plugins, name, 'src/index.ts'))) as { default: Definition }
  const seen: Seen = {}
  const plan = { split: 'eval', episodes: 1_000 } as const
  const environment = createNativeEnvironment(watched(definition, seen), { environments: 1, seed: 3, plan })
  const { buffers, description } = environment
  const { memory, masked } = description
  const { folder, policy, model } = writeRandomAgent(join(home, name), name, description, memory, masked)
  const schemas = {
    observation: asZod(observationSchema(description.observation)),
    mask: asZod(maskSchema(description.action)),
  }
  const session = loadModelSession(model, policy, { batch: ROWS })
  const agent = await loadAgent(folder)
  const rows = new Float32Array(ROWS * description.sizes.observation)
  const kept: { observation: unknown; mask: unknown; decision: unknown }[] = []
  let state: string | null = null
  environment.reset()
  for (let step = 0; step < STEPS; step++) {
    const { observation, mask } = structuredClone(seen)
    rows.set(buffers.observations)
    forgetEnded({ ...session, batch: ROWS }, buffers.flags)
    session.run(rows)
    const masks = masked ? buffers.masks : null
    greedyActions({ spec: policy, distribution: session.distribution, masks, rows: 1 }, buffers.actions)
    if (buffers.flags[0] !== 0) state = null
    const decision = agent.act(observation, { mask, state })
    // As clients of MCP and others are told what to send.
    expect(schemas.observation?.safeParse(asJson(observation)).error).toBeUndefined()
    if (masked) {
      expect(schemas.mask?.safeParse(asJson(mask)).error).toBeUndefined()
      expect(() => agent.act(observation, { state })).toThrow('does not say which are')
    }
    environment.step()
    const { action } = seen
    expect(toFloat32(decision.action)).toEqual(toFloat32(inWords(description.action, action, observation)))
    kept.push({ observation, mask, decision })
    state = decision.state
  }
  if (memory !== true) {
    const options = masked ? { masks: kept.map(({ mask }) => mask) } : {}
    expect(
      agent.actBatch(
        kept.map(({ observation }) => observation),
        options,
      ),
    ).toEqual(kept.map(({ decision }) => decision))
  }
  session.dispose()
  agent.dispose()
})

const asZod = (schema: JsonSchema | undefined) =>
  schema && z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0])

/** As it is sent: typed arrays are lists. */
function asJson(value: unknown): unknown {
  const list = (_key: string, part: unknown) => (ArrayBuffer.isView(part) ? Array.from(part as Float32Array) : part)
  return JSON.parse(JSON.stringify(value, list))
}

function toFloat32(value: unknown): unknown {
  if (typeof value === 'number') return Math.fround(value)
  if (Array.isArray(value)) return value.map(toFloat32)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, toFloat32(inner)]))
}
