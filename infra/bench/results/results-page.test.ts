import { describe, expect, it } from 'vitest'
import type { FinishedRun } from './finished-runs.ts'
import { resultsPage } from './results-page.ts'
import type { Experiment } from './suite.ts'

const walk: Experiment = { id: 'walk', scenario: 'walk', steps: 1000, metric: 'return_mean', target: 10 }
const blind: Experiment = { ...walk, id: 'walk-blind', set: { memory: 'none' } }

const run = (experiment: string, seed: number, score: number): FinishedRun => ({
  ...{ experiment, seed, score, configuration: 'c', steps: 1000, untrained: 0, seconds: 1 },
  success: score >= 10,
  chosen: { gamma: 0.995, gae_lambda: 0.98 },
})

const rowsOf = (runs: FinishedRun[]) =>
  resultsPage([walk, blind], [1, 2, 3], runs)
    .split('\n')
    .filter((line) => line.startsWith('| walk'))

describe('the page of results', () => {
  it('says what was not run instead of inventing it', () => {
    expect(rowsOf([])).toEqual([
      '| walk | 1,000 |  |  | not run | 10 |  |  |',
      '| walk | 1,000 | not run | `memory=none` | not run |',
    ])
  })

  it('compares nothing set with tuned, from the untrained policy on', () => {
    const tuned: Experiment = { ...walk, id: 'walk-tuned', steps: 5000, tuned: true }
    const runs = [run('walk', 1, 9), { ...run('walk-tuned', 1, 12), steps: 700 }]
    const page = resultsPage([walk, tuned], [1], runs)
    expect(page).toContain('| walk | 9.0 (9.0 to 9.0) | 1,000 | 12.0 (12.0 to 12.0) | 5,000 | 75% |')
    expect(page).toContain('Within 10% of tuned: 0 of 1 that were run with both; not walk.')
  })

  it('leaves out runs with other steps', () => {
    expect(rowsOf([{ ...run('walk', 1, 9), steps: 500 }])).toEqual(rowsOf([]))
  })

  it('has interquartile mean, interval, and the seeds that met the targets', () => {
    const runs = [run('walk', 3, 8), run('walk', 1, 10), run('walk', 2, 12), run('walk-blind', 1, 0.5)]
    expect(rowsOf(runs)).toEqual([
      '| walk | 1,000 | 0.995 · 0.98 | 0.00 | 10.0 (8.0 to 12.0) | 10 | 2 of 3 |  |',
      '| walk | 1,000 | 10.0 (8.0 to 12.0) | `memory=none` | 0.50 (0.50 to 0.50), 1 of 3 seeds |',
    ])
  })
})
