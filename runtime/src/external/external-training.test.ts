import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TrainingEvent } from '@agentgym/contract'
import { fullTier } from '@agentgym/testkit/tier'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { evaluateAgent } from '../evaluation/evaluate-agent.ts'
import { resolvePlan } from '../training/settings.ts'
import { train } from '../training/train.ts'
import { openEnvironmentTarget } from './opened-environment.ts'
import { startWalkServer, type WalkOptions, type WalkServer } from './testing/walk-server.ts'

let folder: string
let server: WalkServer
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'agentgym-walk-'))
  server = await startWalkServer()
})
afterAll(async () => {
  await server.close()
  await rm(folder, { recursive: true, force: true })
})

/** Three steps to the right are best: a return of nearly 3. */
const success = { return_mean: 2.7 }

async function trainWalk(
  name: string,
  { walk = {}, on = server, resume = false, ...request }: Request,
): Promise<TrainingEvent[]> {
  const environment = await openEnvironmentTarget({ target: on.target(walk), success, timeoutMs: 5_000 })
  const events: TrainingEvent[] = []
  await train({
    scenario: environment,
    plan: resolvePlan(environment, request),
    ...{ seed: 5, resume, out: join(folder, name), home: join(folder, 'home') },
    onEvent: (event) => events.push(event),
  })
  return events
}

type Request = {
  walk?: WalkOptions
  on?: WalkServer
  resume?: boolean
  algorithm?: string
  steps?: number
  set?: Record<string, string>
}

describe('training on a process of the user', { tags: fullTier, timeout: 300_000 }, () => {
  test.each([
    ['ppo', 12_288, {}],
    ['ppo', 12_288, { masked: true, autoreset: 'next_step' as const }],
    ['grpo', 12_288, { autoreset: 'disabled' as const }],
  ])('by %s reaches its target', async (algorithm, steps, walk) => {
    const name = `${algorithm}-${Object.keys(walk).join('-')}`
    const events = await trainWalk(name, { algorithm, steps, walk })
    expect(events.at(-1)).toMatchObject({ event: 'result', evaluation: { success: { ok: true } } })
    const { scenario } = JSON.parse(await readFile(join(folder, name, 'agent.json'), 'utf8'))
    expect(scenario).toMatchObject({
      name: 'vector:walk',
      version: '1.2.0',
      environment: { kind: 'vector', id: 'walk' },
    })
  })

  test('is evaluated on the same episodes again, with any number of environments', async () => {
    await trainWalk('evaluated', { steps: 2_048 })
    const evaluations = []
    for (const evaluationEnvironments of [4, 16]) {
      const environment = await openEnvironmentTarget({ target: server.target(), evaluationEnvironments })
      evaluations.push(await evaluateAgent({ agent: join(folder, 'evaluated'), environment, episodes: 30 }))
    }
    expect(evaluations[1]).toEqual(evaluations[0])
    const other = await openEnvironmentTarget({ target: server.target({ actions: 4 }) })
    await expect(evaluateAgent({ agent: join(folder, 'evaluated'), environment: other })).rejects.toThrow(
      expect.objectContaining({ code: 'scenario_mismatch' }),
    )
  })

  test('ends with a fault when the process dies, and goes on from its last checkpoint', async () => {
    const dying = await startWalkServer()
    const set = { checkpoint_every: '2048', rollout_workers: '2' }
    const running = trainWalk('dying', { steps: 20_480, set, on: dying })
    const seen = await Promise.allSettled([running, afterCheckpoint('dying').then(() => dying.close())])
    expect(seen[0]).toMatchObject({
      status: 'rejected',
      reason: {
        code: 'environment_failed',
        data: { checkpoint: expect.stringContaining('checkpoint.safetensors'), vector_step: expect.any(Number) },
      },
    })
    const events = await trainWalk('dying', { steps: 20_480, set, resume: true })
    const [first] = events.filter(({ event }) => event === 'progress')
    expect(first).toMatchObject({ iteration: expect.any(Number) })
    expect((first as { iteration: number }).iteration).toBeGreaterThan(1)
    expect(events.at(-1)).toMatchObject({ event: 'result', steps: 20_480, evaluation: { success: { ok: true } } })
  })
})

async function afterCheckpoint(name: string): Promise<void> {
  const path = join(folder, name, '.agentgym/checkpoint.safetensors')
  while (
    await readFile(path).then(
      () => false,
      () => true,
    )
  )
    await new Promise((resolve) => setTimeout(resolve, 5))
}
