import { describe, expect, test } from 'vitest'
import { faultOf, startEngine } from '../../test/start-engine.ts'
import { walk } from '../../test/walk.ts'
import {
  box,
  choice,
  defineScenario,
  defineToolScenario,
  discrete,
  type EpisodeContext,
  frameStack,
  tool,
} from '../index.ts'
import { describeScenario, type EngineOptions } from './index.ts'

const levels = [{ name: 'easy' }, { name: 'hard', description: 'Noise on every step' }, { name: 'harder' }]

/** The observation is the level that `reset` was given and the one that `step` was given; an episode takes two steps. */
const graded = defineScenario({
  observation: box({ shape: [2] }),
  action: discrete({ n: 4 }),
  maxSteps: 2,
  tasks: { train: 7, eval: 5 },
  levels,
  reset: ({ level }) => ({ level, stepped: -1 }),
  step(state, _action, { level }) {
    state.stepped = level
    return { reward: level, terminated: false }
  },
  observe: ({ level, stepped }) => [level, stepped],
  oracle: (_state, { level }) => level,
})

/** Levels of the first `episodes` episodes of each environment, in order. */
function levelsPlayed(options: Partial<EngineOptions>, episodes: number): number[][] {
  const { engine, buffers } = startEngine(graded, options)
  const seen = Array.from(buffers.flags, (): number[] => [])
  engine.reset()
  for (let step = 0; step < 2 * episodes; step += 1) {
    const first = step % 2 === 0
    for (const [row, list] of seen.entries()) if (first) list.push(buffers.observations[2 * row])
    engine.oracle()
    for (const [row, list] of seen.entries()) expect(buffers.actions[row]).toBe(list.at(-1))
    engine.step()
    for (const [row, list] of seen.entries()) {
      expect(buffers.rewards[row]).toBe(list.at(-1))
      if (first) expect(buffers.observations[2 * row + 1]).toBe(list.at(-1))
    }
  }
  return seen
}

describe('levels', () => {
  test('evaluation takes them in turns by the number of the episode, whatever the seed and the number of environments', () => {
    for (const seed of [0, 9]) {
      for (const environments of [1, 4, 5]) {
        const played = levelsPlayed({ seed, environments, plan: { split: 'eval', episodes: 60 } }, 6)
        const episodes = played.flatMap((list, row) => list.map((level, i) => [row + i * environments, level]))
        for (const [episode, level] of episodes) expect(level).toBe(episode % 3)
      }
    }
  })

  test('training draws them: about equally often, from the seed, and alike wherever an environment is stepped', () => {
    const whole = levelsPlayed({ environments: 6, seed: 4 }, 200)
    const counts = [0, 1, 2].map((level) => whole.flat().filter((drawn) => drawn === level).length)
    // 1200 draws: a deviation of 16 about 400.
    for (const count of counts) expect(Math.abs(count - 400)).toBeLessThan(80)
    expect(levelsPlayed({ environments: 2, firstEnvironment: 4, seed: 4 }, 200)).toEqual(whole.slice(4))
    expect(levelsPlayed({ environments: 6, seed: 5 }, 200)).not.toEqual(whole)
    expect(new Set(whole.map((list) => list.join())).size).toBe(6)
  })

  test('a restored episode has its level', () => {
    const [drawn] = levelsPlayed({ seed: 4 }, 8)
    const { engine, buffers } = startEngine(graded, { seed: 4 })
    for (const [episode, level] of drawn.entries()) {
      engine.restore(0, episode, Float32Array.of(0))
      expect(Array.from(buffers.observations)).toEqual([level, level])
    }
  })

  test('the environments of a group share the level', () => {
    const { engine, buffers } = startEngine(graded, { environments: 12, plan: { split: 'train', groupSize: 4 } })
    const seen = new Set<number>()
    for (let episode = 0; episode < 20; episode += 1) {
      engine.reset(episode)
      for (let row = 0; row < 12; row += 1) {
        const level = buffers.observations[2 * row]
        seen.add(level)
        expect(level).toBe(buffers.observations[2 * (row - (row % 4))])
      }
    }
    expect(seen).toEqual(new Set([0, 1, 2]))
  })

  test('drawing levels changes no other stream; without levels the level is 0', () => {
    const given: number[] = []
    const rows = (definition: unknown) => {
      const { engine, buffers } = startEngine(definition, { environments: 5 })
      engine.reset()
      const lines = [Array.from(buffers.observations)]
      for (let step = 0; step < 40; step += 1) {
        buffers.actions.fill(step % 3)
        engine.step()
        lines.push([...buffers.observations, ...buffers.rewards])
      }
      return lines
    }
    const plain = rows({
      ...walk,
      reset(context: EpisodeContext) {
        given.push(context.level)
        return walk.reset(context)
      },
    })
    expect(new Set(given)).toEqual(new Set([0]))
    expect(rows({ ...walk, levels })).toEqual(plain)
  })

  test('a definition lists them, also of a stacked scenario and of one with tools', () => {
    expect(describeScenario(graded).levels).toEqual(levels)
    expect(describeScenario(walk)).not.toHaveProperty('levels')
    expect(describeScenario(frameStack(graded, { frames: 2 })).levels).toEqual(levels)
    const seen: number[] = []
    const tools = defineToolScenario({
      observation: box({ shape: [1] }),
      maxSteps: 1,
      levels,
      start: ({ level }) => ({ level }),
      tools: {
        say: tool({
          description: 'Say it',
          parameters: { word: choice(['a', 'b']) },
          run(state: { level: number }, _args, { level }) {
            seen.push(state.level, level)
            return {}
          },
        }),
      },
      observe: (state) => [state.level],
      outcome: () => 0,
    })
    const { engine } = startEngine(tools, { plan: { split: 'eval', episodes: 9 } })
    engine.reset()
    for (let step = 0; step < 3; step += 1) engine.step()
    expect(seen).toEqual([0, 0, 1, 1, 2, 2])
  })

  test.each<[unknown, string]>([
    [5, 'levels must be a list of 2 to 16 { name, description? }, got 5; leave it out for one level'],
    [[{ name: 'a' }], 'levels must be a list of 2 to 16 { name, description? }, got a list of 1; leave it out'],
    [Array.from({ length: 17 }, (_, i) => ({ name: `${i}` })), 'got a list of 17'],
    [['a', 'b'], 'levels[0] must be { name, description? }, got the string "a"'],
    [[{ name: 'a' }, {}], 'levels[1].name must be one line of 1 to 40 characters'],
    [[{ name: 'a' }, { name: 'a\nb' }], 'levels[1].name must be one line'],
    [[{ name: 'a' }, { name: ' b' }], 'without spaces around it'],
    [[{ name: 'a' }, { name: 'b\u001b[2J' }], 'levels[1].name must be one line'],
    [[{ name: 'a' }, { name: 'x'.repeat(41) }], 'levels[1].name must be one line of 1 to 40'],
    [[{ name: 'a', description: 7 }, { name: 'b' }], 'levels[0].description must be one line of 1 to 200'],
    [[{ name: 'a' }, { name: 'a' }], 'levels[1].name is the string "a", the name of levels[0]'],
  ])('%# refused', (given, message) => {
    const fault = faultOf(() => describeScenario({ ...graded, levels: given }))
    expect(fault).toMatchObject({ code: 'scenario_invalid', phase: 'define' })
    expect(fault.message).toContain(message)
  })
})
