import { describe, expect, test } from 'vitest'
import { startEngine } from '../../test/start-engine.ts'
import { box, defineScenario, dict, discrete, text } from '../index.ts'
import { HOLD, TERMINATED } from './index.ts'

/** Shows a draw and the step; ends in step 2 of environments that are told to. */
const dice = defineScenario({
  observation: dict({ draw: box({ shape: [1] }), said: text({ maxTokens: 4 }) }),
  action: discrete({ n: 2 }),
  maxSteps: 9,
  reset: ({ rng }) => ({ draw: rng(), step: 0 }),
  step(state, action) {
    state.step += 1
    return { reward: 1, terminated: state.step === 2 && action === 1 }
  },
  observe: ({ draw, step }) => ({ draw: [draw], said: `step ${step}` }),
})

const EMPTY = new Float32Array(0)

function start(
  environments: number,
  seed = 7,
  plan: { split: 'train' } | { split: 'eval'; episodes: number } = { split: 'train' },
) {
  const { engine, buffers, description } = startEngine(dice, { environments, seed, plan, watchTexts: 'all' })
  const width = description.sizes.observation
  return { engine, buffers, draw: (row: number) => buffers.observations[row * width] }
}

describe('an environment that is held', () => {
  test('keeps its rows and its episode, while the others go on as they would alone', () => {
    const [held, free] = [start(2), start(2)]
    for (const { engine } of [held, free]) engine.reset()
    const before = held.draw(0)
    held.buffers.flags[0] = HOLD
    held.engine.step()
    free.engine.step()
    expect([...held.buffers.flags]).toEqual([0, 0])
    expect([...held.buffers.rewards]).toEqual([0, 1])
    expect([held.draw(0), held.draw(1)]).toEqual([before, free.draw(1)])
    // It is one step behind.
    held.buffers.actions.fill(1)
    held.engine.step()
    expect([...held.buffers.flags]).toEqual([0, TERMINATED])
    held.engine.step()
    expect(held.buffers.flags[0]).toBe(TERMINATED)
    expect(held.buffers.episodeLengths[0]).toBe(2)
  })
})

describe('an environment that is restored with a seed of its own', () => {
  test('plays the episodes of the first environment of a run with that seed, also the later ones', () => {
    const [run, other] = [start(1, 12), start(3, 99)]
    run.engine.reset()
    other.engine.reset()
    other.engine.restore(2, 0, EMPTY, 12)
    for (let episode = 0; episode < 3; episode += 1) {
      expect(other.draw(2)).toBe(run.draw(0))
      for (const { engine, buffers } of [run, other]) {
        buffers.actions.fill(1)
        engine.step()
        engine.step()
        expect(buffers.flags.at(-1)).toBe(TERMINATED)
      }
    }
  })

  test('plays every held-out episode of that seed, one after another', () => {
    const plan = { split: 'eval' as const, episodes: 1_000 }
    const [run, other] = [start(1, 12, plan), start(3, 99, plan)]
    run.engine.reset()
    other.engine.reset()
    other.engine.restore(1, 0, EMPTY, 12)
    for (let episode = 0; episode < 3; episode += 1) {
      expect(other.draw(1)).toBe(run.draw(0))
      for (const { engine, buffers } of [run, other]) {
        buffers.actions.fill(1)
        engine.step()
        engine.step()
      }
    }
  })
})

test('texts of all rows are whole, and last ones are those since they were read', () => {
  const { engine, buffers } = start(2)
  engine.reset()
  expect(engine.watchedTexts()).toBe('1;6:step 00;1;6:step 00;')
  buffers.actions.set([0, 1])
  engine.step()
  engine.step()
  expect(engine.watchedTexts()).toBe('1;6:step 20;1;6:step 01;6:step 2')
  engine.step()
  expect(engine.watchedTexts()).toBe('1;6:step 30;1;6:step 10;')
})
