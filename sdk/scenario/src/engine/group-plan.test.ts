import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { rowsOf, startEngine } from '../../test/start-engine.ts'
import { box, defineScenario, discrete } from '../index.ts'
import { type EpisodePlan, IDLE, TERMINATED, TRUNCATED } from './index.ts'

/** The observation tells everything that an episode's streams gave; Math.random is the sandbox's, and tested there. */
const telltale = defineScenario({
  observation: box({ shape: [4] }),
  action: discrete({ n: 3 }),
  maxSteps: 6,
  tasks: { train: 1000 },
  reset: ({ rng, task }) => ({ task: task.index, start: rng(), noise: rng.normal(), last: 0, sum: 0, steps: 0 }),
  step(state, action, { rng }) {
    state.last = rng()
    state.sum += action
    state.steps += 1
    return { reward: action, terminated: action === 2 && state.steps > 1 }
  },
  observe: ({ task, start, noise, last }) => [task, start, noise, last],
  metrics: ({ sum }) => ({ sum }),
})

const start = (environments: number, groupSize: number, options: { firstEnvironment?: number; seed?: number } = {}) =>
  startEngine(telltale, { environments, plan: { split: 'train', groupSize }, ...options })

/** Rows of every environment after a reset to `episode` and `steps` steps with these actions. */
function play(
  started: ReturnType<typeof start>,
  episode: number,
  actions: (row: number, step: number) => number,
  steps: number,
) {
  const { engine, buffers } = started
  engine.reset(episode)
  const lines = Array.from(buffers.flags, (_, row) => [rowsOf(started, row)])
  for (let step = 0; step < steps; step += 1) {
    for (let row = 0; row < lines.length; row += 1) buffers.actions[row] = actions(row, step)
    engine.step()
    for (let row = 0; row < lines.length; row += 1) lines[row].push(rowsOf(started, row))
  }
  return lines
}

describe('groups', () => {
  test('the environments of a group play the same episode, task and randomness alike; groups differ', () => {
    const lines = play(start(6, 3), 4, () => 1, 6)
    for (const row of [1, 2]) expect(lines[row]).toEqual(lines[0])
    for (const row of [4, 5]) expect(lines[row]).toEqual(lines[3])
    expect(lines[3][0]).not.toEqual(lines[0][0])
  })

  test('an episode is that of its number, whatever was played before, and no other', () => {
    const started = start(2, 2)
    const second = play(started, 2, () => 1, 6)
    expect(play(started, 3, () => 0, 3)).not.toEqual(second)
    expect(play(started, 2, () => 1, 6)).toEqual(second)
    expect(play(start(2, 2, { seed: 8 }), 2, () => 1, 6)).not.toEqual(second)
  })

  test('one episode a reset: its end is shown once, then the environment is idle until the next reset', () => {
    const started = start(2, 2)
    const { engine, buffers } = started
    play(started, 7, (row, step) => (row === 0 && step === 2 ? 2 : 1), 3)
    expect(Array.from(buffers.flags)).toEqual([TERMINATED, 0])
    expect([buffers.episodeNumbers[0], buffers.episodeReturns[0], buffers.episodeLengths[0]]).toEqual([7, 4, 3])
    expect(Array.from(buffers.observations.subarray(0, 4))).toEqual([0, 0, 0, 0])
    for (let step = 0; step < 3; step += 1) engine.step()
    expect(Array.from(buffers.flags)).toEqual([IDLE, TRUNCATED])
    expect(buffers.rewards[0]).toBe(0)
    engine.step()
    expect(Array.from(buffers.flags)).toEqual([IDLE, IDLE])
    engine.reset(8)
    expect(Array.from(buffers.flags)).toEqual([0, 0])
    expect(buffers.observations[0]).toBe(buffers.observations[4])
  })

  test('an environment does the same wherever its group is cut', () => {
    const property = fc.property(fc.integer({ min: 1, max: 5 }), fc.nat(9), fc.nat(20), (groupSize, cut, episode) => {
      const actions = (first: number) => (row: number, step: number) => ((first + row) * 7 + step * 5) % 3
      const whole = play(start(10, groupSize), episode, actions(0), 6)
      const parts = [
        ...(cut > 0 ? play(start(cut, groupSize), episode, actions(0), 6) : []),
        ...play(start(10 - cut, groupSize, { firstEnvironment: cut }), episode, actions(cut), 6),
      ]
      expect(parts).toEqual(whole)
    })
    fc.assert(property, { numRuns: 40 })
  })

  test('what a host may not ask for', () => {
    for (const groupSize of [0, -1, 1.5]) expect(() => start(2, groupSize)).toThrow('a group has one environment')
    const { engine } = start(2, 2)
    for (const episode of [-1, 0.5, Number.NaN]) expect(() => engine.reset(episode)).toThrow('a number from 0 on')
    const plan: EpisodePlan = { split: 'eval', episodes: 2 }
    expect(() => startEngine(telltale, { environments: 2, plan }).engine.reset(1)).toThrow('a first episode')
  })

  test('training without groups may begin with any episode, and goes on with the next', () => {
    const started = startEngine(telltale, { environments: 1, plan: { split: 'train' } })
    const { engine, buffers } = started
    engine.reset(5)
    const fifth = rowsOf(started, 0)
    for (let step = 0; step < 6; step += 1) engine.step()
    expect([buffers.flags[0], buffers.episodeNumbers[0]]).toEqual([TRUNCATED, 5])
    engine.reset(6)
    expect(rowsOf(started, 0)).not.toEqual(fifth)
  })
})
