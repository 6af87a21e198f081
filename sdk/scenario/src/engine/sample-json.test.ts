import { describe, expect, test } from 'vitest'
import { startEngine } from '../../test/start-engine.ts'
import { box, defineScenario, dict, discrete, list, multiDiscrete, text } from '../index.ts'

const shared = new Float32Array(2)
/** Reuses the array of its observation, and what it says needs care. */
const speaker = defineScenario({
  observation: dict({
    said: text({ maxTokens: 4 }),
    numbers: box({ shape: [2] }),
    inner: dict({ which: discrete({ n: 3, start: -1 }), many: multiDiscrete({ nvec: [2, 3] }) }),
    items: list({ slots: 2, features: 1 }),
  }),
  action: discrete({ n: 2 }),
  maxSteps: 2,
  reset: () => ({ step: 0 }),
  step(state) {
    state.step += 1
    return { reward: 0, terminated: false }
  },
  observe({ step }) {
    shared[0] = step
    shared[1] = 0.5
    return {
      said: `"step\n${step}"\u2028`,
      numbers: shared,
      inner: { which: step - 1, many: [1, 2] },
      items: [{ id: 'a "b"', features: [step] }],
    }
  },
})
const seen = (step: number) => ({
  said: `"step\n${step}"\u2028`,
  numbers: [step, 0.5],
  inner: { which: step - 1, many: [1, 2] },
  items: [{ id: 'a "b"', features: [step] }],
})

describe('observations as JSON', () => {
  test('are those of the first row, in the form that observe returned', () => {
    const { engine } = startEngine(speaker, { environments: 2, watchObservations: true })
    engine.reset()
    expect(JSON.parse(engine.observationJson())).toEqual(seen(0))
    engine.step()
    expect(JSON.parse(engine.observationJson())).toEqual(seen(1))
  })

  test('are the last of an episode where none follows', () => {
    const plan = { split: 'train', groupSize: 1 } as const
    const { engine } = startEngine(speaker, { watchObservations: true, plan })
    engine.reset()
    engine.step()
    engine.step()
    expect(JSON.parse(engine.observationJson())).toEqual(seen(2))
  })

  test('are not written where nobody asked', () => {
    const { engine } = startEngine(speaker)
    engine.reset()
    expect(engine.observationJson()).toBe('')
  })

  test('call nothing that the author put on prototypes', () => {
    const called: string[] = []
    const patched = [Array.prototype, Object.prototype, String.prototype, Number.prototype]
    for (const prototype of patched)
      Object.defineProperty(prototype, 'toJSON', { configurable: true, value: () => called.push('toJSON') })
    try {
      const { engine } = startEngine(speaker, { watchObservations: true })
      engine.reset()
      expect(called).toEqual([])
      expect(engine.observationJson()).toContain('"numbers":[0,0.5]')
    } finally {
      for (const prototype of patched) Reflect.deleteProperty(prototype, 'toJSON')
    }
  })
})

test('numbered tasks of training are the episode numbers, modulo their count', () => {
  const tasks: number[] = []
  const definition = defineScenario({
    observation: box({ shape: [1] }),
    action: discrete({ n: 2 }),
    maxSteps: 1,
    tasks: { train: 3, eval: 2 },
    reset({ task }) {
      tasks.push(task.index)
      return 0
    },
    step: () => ({ reward: 0, terminated: false }),
    observe: () => [0],
  })
  const { engine } = startEngine(definition, { plan: { split: 'train', taskOrder: 'numbered' } })
  engine.reset(1)
  engine.step()
  engine.step()
  expect(tasks).toEqual([1, 2, 0])
})
