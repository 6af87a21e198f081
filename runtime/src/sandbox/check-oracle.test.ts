// @module-tag full
/** What `scenario check` says of a scenario's scripted player. */
import type { ScenarioCheck } from '@agentgym/contract'
import { describe, expect, test } from 'vitest'
import { checkScenario } from './check-scenario.ts'
import { validPackage, withFolder } from './testing/scenario-folder.ts'

/** Guess a hidden number from 0 to 3, three times. */
async function checkOf(oracle: string, observe = '[state.guesses]'): Promise<ScenarioCheck> {
  const entry = `
    import { box, defineScenario, discrete } from '@agentgym/scenario'
    export default defineScenario({
      observation: box({ shape: [1] }), action: discrete({ n: 4 }), maxSteps: 3,
      reset: ({ rng }) => ({ hidden: rng.int(4), guesses: 0, right: 0 }),
      step(state, action) {
        state.guesses += 1
        if (action === state.hidden) state.right += 1
        return { reward: action === state.hidden ? 1 : 0, terminated: false }
      },
      observe: (state) => ${observe},
      metrics: (state) => ({ right: state.right / 3 }),
      ${oracle}
    })`
  const manifest = {
    ...validPackage,
    agentgym: { ...validPackage.agentgym, success: { right: 0.9, return_mean: 2.5 } },
  }
  const files = { 'package.json': manifest, 'src/index.ts': entry }
  const limits = { loadMs: 5_000, crossingMs: 1_000, graceMs: 500 }
  const { checks } = await withFolder(files, (folder) => checkScenario(folder, { limits }))
  return checks.find(({ id }) => id === 'oracle') as ScenarioCheck
}

describe.concurrent('the oracle', () => {
  test('that meets the criteria passes, with what it reaches', async () => {
    const { ok, warning, message } = await checkOf('oracle: (state) => state.hidden')
    expect({ ok, warning }).toEqual({ ok: true, warning: undefined })
    expect(message).toBe(
      'over 96 evaluation episodes, the oracle returns 3 and meets right 1 (success: 0.9), return_mean 3 (success: 2.5)',
    )
  })

  test('that misses them fails the scenario', async () => {
    const { ok, message } = await checkOf('oracle: (state, { rng }) => (rng() < 0.5 ? state.hidden : 0)')
    expect(ok).toBe(false)
    expect(message).toMatch(/cannot be solved as written: over 96 evaluation episodes.*right 0\.\d+ \(success: 0\.9\)/)
  })

  test('that helps itself to the state fails', async () => {
    const { ok, message } = await checkOf(
      'oracle: (state) => { state.hidden = 2; return 2 }',
      '[state.guesses + state.right / 10]',
    )
    expect(ok).toBe(false)
    expect(message).toMatch(/changes the state: .* from step 1 of environment \d on/)
  })

  test('whose action does not fit is named, with environment and step', async () => {
    const { ok, message } = await checkOf('oracle: (state) => state.hidden + 4 * state.guesses')
    expect(ok).toBe(false)
    expect(message).toMatch(
      /oracle's action is \d where an integer from 0 to 3 belongs \(environment \d, episode \d+, step 1\)/,
    )
  })

  test('that hangs is named', async () => {
    const slow = 'oracle: () => { for (;;); }'
    const { ok, message } = await checkOf(slow)
    expect(ok).toBe(false)
    expect(message).toMatch(/oracle did not return within 1 s/)
  })

  test('that is absent is a note', async () => {
    const { ok, warning, message } = await checkOf('')
    expect({ ok, warning }).toEqual({ ok: true, warning: undefined })
    expect(message).toMatch(/^no oracle: .*Add oracle\(state, \{ rng \}\)/)
  })
})
