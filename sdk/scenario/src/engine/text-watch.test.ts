import { describe, expect, test } from 'vitest'
import { startEngine } from '../../test/start-engine.ts'
import { box, defineScenario, dict, discrete, text } from '../index.ts'

const said = text({ maxTokens: 4 })
/** Says which environment and step it is, in two texts around a number. */
const speaker = defineScenario({
  observation: dict({ first: said, number: box({ shape: [1] }), inner: dict({ second: said }) }),
  action: discrete({ n: 2 }),
  maxSteps: 3,
  reset: ({ rng }) => ({ luck: rng(), step: 0 }),
  step(state) {
    state.step += 1
    return { reward: 0, terminated: false }
  },
  observe: ({ step }) => ({ first: `step ${step}`, number: [step], inner: { second: `after; ${step}: a` } }),
})

describe('texts of the first row', () => {
  test('are those of the observation that the row holds, and of the last of an episode that ended', () => {
    const { engine } = startEngine(speaker, { environments: 3, watchTexts: true })
    engine.reset()
    expect(engine.watchedTexts()).toBe('2;6:step 011:after; 0: a0;')
    engine.step()
    engine.step()
    expect(engine.watchedTexts()).toBe('2;6:step 211:after; 2: a0;')
    engine.step()
    expect(engine.watchedTexts()).toBe('2;6:step 011:after; 0: a2;6:step 311:after; 3: a')
  })

  test('are cut, made whole letters, and at most four', () => {
    const observation = dict(Object.fromEntries(Array.from({ length: 6 }, (_, i) => [`t${i}`, said])))
    const long = `${'x'.repeat(499)}😀`
    const sample = Object.fromEntries(Array.from({ length: 6 }, (_, i) => [`t${i}`, long]))
    const definition = defineScenario({
      observation,
      action: discrete({ n: 2 }),
      maxSteps: 3,
      reset: () => 0,
      step: () => ({ reward: 0, terminated: false }),
      observe: () => sample,
    } as never)
    const { engine } = startEngine(definition, { watchTexts: true })
    engine.reset()
    expect(engine.watchedTexts()).toBe(`4;${`500:${'x'.repeat(499)}�`.repeat(4)}0;`)
  })

  test('are not kept where nobody asked', () => {
    const { engine } = startEngine(speaker)
    engine.reset()
    expect(engine.watchedTexts()).toBe('')
  })
})
