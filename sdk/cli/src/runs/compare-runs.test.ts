import { describe, expect, it } from 'vitest'
import { describeTerminal } from '../terminal/terminal.ts'
import { type ComparedRun, groupBySettings, seedLines } from './compare-runs.ts'

function run(change: Partial<ComparedRun> & { value?: number | null }): ComparedRun {
  const { value = null, ...rest } = change
  return {
    id: '0123456789',
    scenario: '@acme/maze@1.0.0',
    algorithm: 'ppo',
    settings: { learning_rate: 0.001, rollout_workers: 1 },
    seed: 1,
    steps: 100,
    seconds: 1,
    curve: [],
    ...rest,
    evaluation:
      value === null
        ? null
        : {
            scenario: '@acme/maze@1.0.0',
            episodes: 10,
            seed: 0,
            return_mean: value,
            return_std: 0,
            length_mean: 1,
            metrics: {},
            success: { ok: value > 1, criteria: [] },
            trajectory_hash: 'a'.repeat(64),
          },
  }
}

describe('groupBySettings', () => {
  it('groups runs that differ only in seed or machine settings', () => {
    const groups = groupBySettings([
      run({ id: 'a', value: 1 }),
      run({ id: 'b', value: 9, settings: { learning_rate: 0.01, rollout_workers: 1 } }),
      run({ id: 'c', value: 2, seed: 2, settings: { rollout_workers: 2, learning_rate: 0.001 } }),
      run({ id: 'd', value: 6, seed: 3 }),
      run({ id: 'e', algorithm: 'grpo' }),
    ])
    expect(groups.map(({ runs }) => runs.map(({ id }) => id).join(''))).toEqual(['acd', 'b', 'e'])
    // Mean of 1, 2 and 6 is 3; deviations -2, -1 and 3 have squares 14, over n - 1 is 7.
    expect(groups[0].returns).toEqual({ mean: 3, sd: Math.sqrt(7), count: 3 })
    expect(groups[1].returns).toEqual({ mean: 9, sd: null, count: 1 })
    expect(groups[2].returns).toBeNull()
  })
})

describe('seedLines', () => {
  const terminal = describeTerminal(
    { isTTY: false, columns: 80 } as unknown as Parameters<typeof describeTerminal>[0],
    {},
    { color: false },
  )

  it('summarizes several seeds, not a single one', () => {
    const [group] = groupBySettings([run({ value: 1 }), run({ id: 'b', seed: 7, value: 3 })])
    expect(seedLines(group, terminal)[0]).toContain(
      '@acme/maze@1.0.0, seeds 1, 7: mean return 2 (sd 1.41), 1 of 2 reached every target',
    )
    expect(seedLines(groupBySettings([run({ value: 1 })])[0], terminal)).toEqual([])
  })
})
