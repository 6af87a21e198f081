import { join } from 'node:path'
import type { AgentGymError } from '@agentgym/contract'
import { fullTier } from '@agentgym/testkit/tier'
import { describe, expect, it } from 'vitest'
import { buildScenario } from '../sandbox/build-scenario.ts'
import { replayActions, requireLegal } from './replay-actions.ts'

describe('an action', () => {
  const leaf = { shape: [1], size: 1, labels: [] }
  const opened = {
    ...{ kind: 'opened' as const, observation: [], levels: [], maxSteps: 4, tasks: { train: 0, eval: 0 } },
    action: [
      { ...leaf, name: 'tool', kind: 'discrete' as const },
      { ...leaf, name: 'refund.order', kind: 'discrete' as const },
      { ...leaf, name: 'refund.percent', kind: 'box' as const },
    ],
    controls: [
      { kind: 'discrete' as const, counts: [2], low: [], high: [] },
      { kind: 'discrete' as const, counts: [3], low: [], high: [], when: { column: 0, choice: 1 } },
      { kind: 'box' as const, counts: [], low: [0], high: [0.1], when: { column: 0, choice: 1 } },
    ],
  }
  const legal = [
    [true, true],
    [true, false, true],
  ]

  it.each([
    [[0, 0], 'Action 1 has 2 numbers; the scenario’s have 3.'],
    [[2, 0, 0], 'Action 1 chooses 2 of 2 choices.'],
    [[-1, 0, 0], 'Action 1 chooses -1 of 2 choices.'],
    [[0.5, 0, 0], 'Action 1 chooses 0.5 of 2 choices.'],
    [[Number.NaN, 0, 0], 'Action 1 chooses NaN of 2 choices.'],
    [[1, 1, 0], 'Action 1 chooses 1, which is not legal now.'],
    [[1, 0, 1], 'Action 1 has 1, outside 0 to 0.10000000149011612.'],
    [[1, 0, 0.05], 'Action 1 has 0.05, which is no float32.'],
  ])('%j is refused', (row, message) => {
    expect(() => requireLegal({ opened, legal }, row, 0)).toThrow(
      expect.objectContaining({ code: 'action_invalid', message }),
    )
  })

  it('is accepted at a bound, and where the choice that is masked is of another tool', () => {
    expect(() => requireLegal({ opened, legal }, [1, 0, Math.fround(0.1)], 0)).not.toThrow()
    expect(() => requireLegal({ opened, legal }, [0, 1, 0], 0)).not.toThrow()
  })
})

it('plays the episode of the actions, and refuses too many and too few', {
  tags: fullTier,
  timeout: 120_000,
}, async () => {
  const scenario = await buildScenario(join(import.meta.dirname, '../../../plugins/cart-pole'))
  const play = (count: number) =>
    replayActions({ scenario, seed: 0, episode: 3, actions: Array.from({ length: count }, () => [0]) })
  // Always pushing left, the pole falls after about ten steps.
  const early = await play(500).catch((error: AgentGymError) => error)
  const count = Number(Object(early).data.step)
  expect(early).toMatchObject({ message: `The episode ends after ${count} of 500 actions.` })
  expect(await play(count)).toMatchObject({
    ...{ episode: 3, end: 'terminated', rewards: new Array(count).fill(1), tasks: { train: 0, eval: 0 } },
    trajectory_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
  })
  await expect(play(count - 1)).rejects.toMatchObject({
    message: `The episode does not end with its ${count - 1} actions.`,
  })
})
