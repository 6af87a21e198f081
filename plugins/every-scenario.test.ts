// @module-tag full
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { resolveTrainingPlan, scenarioPackageSchema, trainingAlgorithms } from '@agentgym/contract'
import { createRng } from '@agentgym/scenario'
import {
  allocateBuffers,
  createEngine,
  DONE,
  describeScenario,
  type EngineOptions,
  observationLeaves,
  type ScenarioDescription,
  TERMINATED,
  TRUNCATED,
} from '@agentgym/scenario/engine'
import { describe, expect, test } from 'vitest'
import { meansOf, sampleActions } from './baseline-players.ts'

const STEPS = 700
const algorithms: string[] = trainingAlgorithms
const folders = globSync('*/package.json', { cwd: import.meta.dirname })
  .map(dirname)
  .sort()

type Played = {
  observations: Float32Array[]
  rewards: number[]
  ends: { environment: number; flags: number; length: number; return: number; metrics: number[] }[]
  metricNames: string[]
}

function play(definition: unknown, options: EngineOptions): Played {
  const description = describeScenario(definition)
  const buffers = allocateBuffers(options.environments, description.sizes)
  const engine = createEngine(definition, description, options, buffers)
  const rngs = Array.from({ length: options.environments }, (_, environment) => createRng(100 + environment))
  const played: Played = { observations: [], rewards: [], ends: [], metricNames: [] }
  expect(engine.reset()).toBe(DONE)
  played.observations.push(buffers.observations.slice())
  for (let step = 0; step < STEPS; step += 1) {
    sampleActions(description, buffers, rngs)
    expect(engine.step()).toBe(DONE)
    played.observations.push(buffers.observations.slice())
    played.rewards.push(...buffers.rewards)
    for (let environment = 0; environment < options.environments; environment += 1) {
      const flags = buffers.flags[environment]
      if ((flags & (TERMINATED | TRUNCATED)) === 0) continue
      const metrics = Array.from(buffers.metrics.subarray(environment * 32, environment * 32 + 32))
      played.ends.push({
        environment,
        flags,
        length: buffers.episodeLengths[environment],
        return: buffers.episodeReturns[environment],
        metrics: metrics.slice(0, engine.metricNames().length),
      })
    }
  }
  played.metricNames = engine.metricNames()
  return played
}

function columnBounds({ observation }: ScenarioDescription): { low: number; high: number }[] {
  return observationLeaves(observation).flatMap((leaf) => {
    if (leaf.kind !== 'box') return Array.from({ length: leaf.size }, () => ({ low: 0, high: leaf.counts[0] - 1 }))
    const space =
      observation.type === 'dict' ? observation.entries.find(({ name }) => name === leaf.name)?.space : observation
    // A slot is 1 and features without bounds, or zeros.
    if (space?.type === 'list') return Array.from({ length: leaf.size }, () => ({ low: -Infinity, high: Infinity }))
    if (space?.type !== 'box') throw new Error(`no box ${leaf.name}`)
    return space.low.map((low, i) => ({
      low: Math.fround(low ?? -Infinity),
      high: Math.fround(space.high[i] ?? Infinity),
    }))
  })
}

test('all are here', () => {
  expect(folders).toEqual([
    'acrobot',
    'baby-grid',
    'breakout',
    'cart-pole',
    'code-review',
    'connect-four',
    'customer-support',
    'data-analysis',
    'email-automation',
    'game-24',
    'grid-maze',
    'house-chores',
    'lunar-lander',
    'mountain-car',
    'multi-hop-search',
    'pendulum',
    'qa-testing',
    'returns-desk',
    'science-lab',
    'snake',
    't-maze',
    'text-craft',
    'web-shop',
  ])
})

describe.each(folders)('%s', async (folder) => {
  const root = join(import.meta.dirname, folder)
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const { default: definition } = await import(join(root, manifest.agentgym.entry))
  const description = describeScenario(definition)
  const train: EngineOptions = { environments: 4, seed: 7, plan: { split: 'train' } }

  test('the package is a valid scenario with valid training settings', () => {
    const parsed = scenarioPackageSchema.parse(manifest)
    expect(parsed).toMatchObject({ name: `@agentgym/${folder}`, license: 'MIT' })
    expect(manifest.dependencies).toEqual({ '@agentgym/scenario': 'workspace:*' })
    const { algorithm, ...block } = parsed.agentgym.training
    const settings = Object.fromEntries(Object.entries(block).filter(([name]) => !algorithms.includes(name)))
    expect(resolveTrainingPlan(parsed.agentgym.training)).toMatchObject({ algorithm: 'ppo', settings })
    expect(algorithm ?? 'ppo').toBe('ppo')
    for (const algorithm of trainingAlgorithms) {
      const plan = resolveTrainingPlan(parsed.agentgym.training, { algorithm })
      expect(plan.settings).toMatchObject((block[algorithm] as object | undefined) ?? {})
    }
    for (const file of ['README.md', 'LICENSE']) expect(existsSync(join(root, file))).toBe(true)
  })

  test('numbered tasks for evaluation are more than a policy could remember', () => {
    if (description.tasks.train > 0) expect(description.tasks.eval).toBeGreaterThanOrEqual(1_000_000)
  })

  test('episodes of random legal actions stay inside the spaces and end', () => {
    const played = play(definition, train)
    const bounds = columnBounds(description)
    for (const rows of played.observations) {
      rows.forEach((value, i) => {
        const { low, high } = bounds[i % bounds.length]
        if (value < low || value > high)
          expect.fail(`column ${i % bounds.length}: ${value} is not in ${low} to ${high}`)
      })
    }
    expect(played.ends.length).toBeGreaterThan(0)
    for (const end of played.ends) {
      expect(end.length).toBeLessThanOrEqual(description.maxSteps)
      if ((end.flags & TRUNCATED) !== 0) expect(end.length).toBe(description.maxSteps)
      for (const metric of end.metrics) expect(metric).toBeTypeOf('number')
    }
    const named = ['return_mean', ...played.metricNames]
    for (const metric of Object.keys(manifest.agentgym.success)) expect(named).toContain(metric)
  })

  test('its oracle meets the success criteria on evaluation episodes', () => {
    const means = meansOf(definition, 'oracle')
    for (const [name, least] of Object.entries(manifest.agentgym.success)) {
      expect(means[name], name).toBeGreaterThanOrEqual(least as number)
    }
  })

  test('the same seed gives the same trajectories, another seed others', () => {
    const first = play(definition, train)
    expect(play(definition, train)).toEqual(first)
    expect(play(definition, { ...train, seed: 8 }).observations).not.toEqual(first.observations)
  })

  test('an environment does not depend on how many there are', () => {
    const columns = description.sizes.observation
    const four = play(definition, train)
    const one = play(definition, { ...train, environments: 1 })
    const alone = four.observations.map((rows) => rows.slice(0, columns))
    expect(one.observations).toEqual(alone)
    expect(four.ends.filter(({ environment }) => environment === 0)).toEqual(one.ends)
  })
})
