import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, expectTypeOf, it, vi } from 'vitest'
import { startEngine } from '../../test/start-engine.ts'
import { box, choice, defineScenario, defineToolScenario, dict, discrete, list, pointer, tool } from '../index.ts'
import { expectGolden, playEpisode } from './index.ts'

const corridor = defineScenario({
  observation: box({ shape: [2], low: -9, high: 9 }),
  action: discrete({ n: 2, start: 1, labels: ['left', 'right'] }),
  maxSteps: 4,
  tasks: { train: 100, eval: 5 },
  reset: ({ rng, task }) => ({ at: rng.int(3) - 1, noise: rng(), task: task.index, seen: Float64Array.of(0, 0) }),
  step(state, action) {
    state.at += action === 2 ? 1 : -1
    return { reward: -0.01, terminated: state.at === 3 }
  },
  observe(state) {
    state.seen[0] = state.at
    state.seen[1] = state.noise
    return state.seen
  },
  actionMask: ({ at }) => [at > -3, true],
  metrics: ({ at }) => ({ arrived: at === 3 ? 1 : 0 }),
  oracle: () => 2,
})

describe('playEpisode', () => {
  it('plays what the engine plays', async () => {
    const played = await playEpisode(corridor, ['right', 1, 'left', 'right'], { seed: 7 })
    const { engine, buffers } = startEngine(corridor, { seed: 7, plan: { split: 'train', groupSize: 1 } })
    engine.reset()
    const rows = [Array.from(buffers.observations)]
    for (const index of [1, 0, 0, 1]) {
      buffers.actions[0] = index
      engine.step()
      rows.push(Array.from(rows.length === 4 ? buffers.finalObservations : buffers.observations))
    }
    expect(played.observations.map((row) => row.map(Math.fround))).toEqual(rows)
    expectTypeOf(played.observations).toEqualTypeOf<number[][]>()
    expect(played).toMatchObject({
      seed: 7,
      task: { split: 'train', index: expect.any(Number) },
      actions: [2, 1, 1, 2],
      rewards: [-0.01, -0.01, -0.01, -0.01],
      masks: Array(4).fill([true, true]),
      terminated: false,
      truncated: true,
      metrics: { arrived: 0 },
    })
    expect(played.return).toBeCloseTo(buffers.episodeReturns[0], 12)
    expect(await playEpisode(corridor, ['right', 1, 'left', 'right'], { seed: 7 })).toEqual(played)
    expect((await playEpisode(corridor, ['right'], { seed: 8 })).observations[0]).not.toEqual(played.observations[0])
  })

  it('stops where the actions run out, and leaves those that the episode does not reach', async () => {
    const short = await playEpisode(corridor, ['right'])
    expect(short).toMatchObject({ terminated: false, truncated: false, actions: [2], metrics: {} })
    expect(short.observations).toHaveLength(2)
    expect((await playEpisode(corridor, Array(50).fill('left'))).actions).toHaveLength(4)
  })

  it('plays a function and the oracle', async () => {
    const seen: unknown[] = []
    const chosen = await playEpisode(
      corridor,
      ([at], { step, mask }) => {
        seen.push([at, step, mask])
        return step === 1 ? undefined : 'right'
      },
      { seed: 3 },
    )
    expect(chosen.actions).toEqual([2])
    expect(seen).toEqual(chosen.observations.map(([at], step) => [at, step, [true, true]]))
    const { terminated, metrics } = await playEpisode(corridor, 'oracle', { seed: 3 })
    expect({ terminated, metrics }).toEqual({ terminated: true, metrics: { arrived: 1 } })
  })

  it('plays the task that is named', async () => {
    const { task, observations } = await playEpisode(corridor, [], { task: { split: 'eval', index: 4 } })
    expect(task).toEqual({ split: 'eval', index: 4 })
    expect(observations).toHaveLength(1)
    expect((await playEpisode(corridor, [], { task: { split: 'eval' } })).task.index).toBeLessThan(5)
    await expect(playEpisode(corridor, [], { task: { split: 'eval', index: 5 } })).rejects.toThrow(
      "playEpisode: task.index is 5; the scenario's eval tasks are 0 to 4",
    )
  })

  it('plays the level that is named, else the one that the seed draws', async () => {
    const graded = defineScenario({
      ...corridor,
      levels: [{ name: 'near' }, { name: 'far' }],
      reset: ({ level }) => ({ at: level, noise: 0, task: 0, seen: Float64Array.of(0, 0) }),
      step: (_state, _action, { level }) => ({ reward: level, terminated: true }),
    })
    for (const level of [0, 1]) {
      const played = await playEpisode(graded, [1], { level })
      expect(played).toMatchObject({
        level,
        rewards: [level],
        observations: [
          [level, 0],
          [level, 0],
        ],
      })
    }
    const drawn = await Promise.all(Array.from({ length: 20 }, (_, seed) => playEpisode(graded, [1], { seed })))
    expect(new Set(drawn.map(({ level }) => level))).toEqual(new Set([0, 1]))
    for (const { level, rewards } of drawn) expect(rewards).toEqual([level])
    await expect(playEpisode(graded, [1], { level: 2 })).rejects.toThrow("level is 2; the scenario's levels are 0 to 1")
    await expect(playEpisode(corridor, [1], { level: 0 })).rejects.toThrow('level is 0; the scenario has no levels')
    expect(await playEpisode(corridor, [1])).not.toHaveProperty('level')
  })

  it('names actions that are none', async () => {
    await expect(playEpisode(corridor, [1, 'up'])).rejects.toThrow(
      'playEpisode: action 1 is the string "up" where an integer from 1 to 2 belongs',
    )
    await expect(playEpisode(corridor, [0])).rejects.toThrow('action 0 is 0 where an integer from 1 to 2 belongs')
    const { oracle, ...without } = corridor
    await expect(playEpisode(without, 'oracle')).rejects.toThrow('the scenario has no oracle')
  })

  it("throws the author's own error, and the engine's faults with their hint", async () => {
    const lost = new Error('lost at sea')
    const throwing = defineScenario({
      ...corridor,
      step() {
        throw lost
      },
    })
    await expect(playEpisode(throwing, [1])).rejects.toBe(lost)
    const odd = defineScenario({ ...corridor, step: () => ({ reward: NaN, terminated: false }) })
    await expect(playEpisode(odd, [1])).rejects.toThrow(
      'reward_not_finite: step returned the reward NaN (step, step 1). A reward must be a finite number.',
    )
    await expect(playEpisode({ ...corridor, maxSteps: 0 }, [1])).rejects.toThrow(/^scenario_invalid: maxSteps/)
  })

  it("gives a scenario the sandbox's Math.random and Date, and its test its own", async () => {
    const { random } = Math
    const before = Date
    const clock = defineScenario({
      observation: box({ shape: [2] }),
      action: discrete({ n: 1 }),
      maxSteps: 2,
      reset: async () => {
        await undefined
        return { draw: Math.random() }
      },
      async step() {
        await undefined
        return { reward: Math.random(), terminated: false }
      },
      observe: ({ draw }) => [draw, Date.parse(new Date().toISOString())],
    })
    const [one, two] = await Promise.all([playEpisode(clock, [0, 0]), playEpisode(clock, [0, 0])])
    expect(one).toEqual(two)
    expect(one.observations.map(([, now]) => now)).toEqual([1_735_689_600_000, 1_735_689_601_000, 1_735_689_602_000])
    expect(new Set([one.observations[0][0], ...one.rewards]).size).toBe(3)
    expect([Math.random, Date]).toEqual([random, before])
  })

  it('plays tools by name, with words and ids', async () => {
    const calls: unknown[] = []
    const desk = defineToolScenario({
      observation: dict({ orders: list({ slots: 3, features: 1 }) }),
      maxSteps: 3,
      start: () => ({}),
      tools: {
        wait: { description: 'Wait', run: () => ({}) },
        refund: tool({
          description: 'Refund',
          parameters: { order: pointer('orders'), reason: choice(['late', 'lost']) },
          run(_: object, args) {
            calls.push({ ...args })
            return { done: true }
          },
        }),
      },
      observe: () => ({ orders: ['a', 'b'].map((id) => ({ id, features: [0] })) }),
      outcome: () => 1,
    })
    const refund = { tool: 'refund', arguments: { order: 'b', reason: 'lost' } }
    const { actions, terminated } = await playEpisode(desk, [{ tool: 'wait' }, refund])
    expect(calls).toEqual([{ order: 'b', reason: 'lost' }])
    expect(actions).toEqual([{ tool: 0 }, { tool: 1, refund: { order: 1, reason: 1 } }])
    expect(terminated).toBe(true)
    await expect(playEpisode(desk, actions as [])).resolves.toMatchObject({ actions })

    const plain = defineToolScenario({
      observation: box({ shape: [1] }),
      maxSteps: 1,
      start: () => ({}),
      tools: { wait: { description: 'Wait', run: () => ({ right: true }) } },
      observe: () => [0],
      outcome: () => 1,
    })
    expect((await playEpisode(plain, [{ tool: 'wait' }])).actions).toEqual([0])
  })
})

describe('expectGolden', () => {
  const folder = mkdtempSync(join(tmpdir(), 'agentgym-golden-'))
  const file = join(folder, 'golden/right.json')
  afterEach(() => vi.unstubAllEnvs())
  afterAll(() => rmSync(folder, { recursive: true }))

  const record = async (scenario: typeof corridor) => {
    vi.stubEnv('AGENTGYM_UPDATE_GOLDEN', '1')
    expectGolden(await playEpisode(scenario, 'oracle', { seed: 3 }), file)
    vi.unstubAllEnvs()
  }

  it('refuses a file that is not there, records it, and compares', async () => {
    const played = await playEpisode(corridor, 'oracle', { seed: 3 })
    expect(() => expectGolden(played, file)).toThrow(
      `${file} does not exist. Record it with \`agentgym scenario test --update\`, and commit it.`,
    )
    await record(corridor)
    expectGolden(played, file)
    // One line a step.
    const lines = readFileSync(file, 'utf8').split('\n')
    expect(lines.filter((line) => line.startsWith('    {"observation"'))).toHaveLength(played.actions.length)
  })

  it('names the first step and field that differ', async () => {
    await record(corridor)
    const now = async (changes: Partial<typeof corridor>, seed = 3) =>
      playEpisode(defineScenario({ ...corridor, ...changes } as typeof corridor), 'oracle', { seed })
    const step: typeof corridor.step = (state, action, context) => {
      const { terminated } = corridor.step(state, action, context) as { terminated: boolean }
      return { reward: terminated ? 5 : -0.01, terminated }
    }
    const { length } = (await now({})).actions
    const again = 'If the change is meant, record it again with `agentgym scenario test --update`.'
    expect(await now({ step }).then(refusal)).toBe(
      `${file}: step ${length} differs first in reward: recorded -0.01, now 5. ${again}`,
    )
    expect(await now({ observe: ({ at }) => [at, 0.5] }).then(refusal)).toMatch(
      /: step 1 differs first in observation\[1\]: recorded 0\.\d+, now 0\.5\./,
    )
    expect(await now({ metrics: () => ({ arrived: 2 }) }).then(refusal)).toMatch(
      /: the end differs first in metrics\.arrived: recorded 1, now 2\./,
    )
    expect(await now({}, 4).then(refusal)).toMatch(/: the episode differs first in seed: recorded 3, now 4\./)
    writeFileSync(file, '{')
    expect(await now({}).then(refusal)).toMatch(/ is not JSON\. Record it again/)
  })

  function refusal(trajectory: Parameters<typeof expectGolden>[0]): string {
    try {
      expectGolden(trajectory, file)
    } catch (error) {
      return (error as Error).message
    }
    throw new Error('nothing differs')
  }
})
