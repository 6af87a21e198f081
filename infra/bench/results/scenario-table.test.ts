import { describe, expect, it } from 'vitest'
import type { FinishedRun } from './finished-runs.ts'
import { scenarioTable, withTable } from './scenario-table.ts'
import type { Experiment } from './suite.ts'

const success = { cost: 0.3, solved: 0.95 }
const experiment: Experiment = { id: 'desk', scenario: 'desk', steps: 1000, metric: 'solved', target: 0.95 }
const players = {
  random: { return_mean: -3, metrics: { cost: 0.125, solved: 0.07 } },
  idle: { return_mean: -9, metrics: { cost: -12.5, solved: 0 } },
  oracle: null,
}

const run = (seed: number, criteria: FinishedRun['criteria']): FinishedRun => ({
  ...{ experiment: 'desk', seed, configuration: 'c', steps: 1000, untrained: 0, seconds: 1, chosen: {} },
  ...{ score: 0.96, success: seed === 1, criteria },
})

const tableOf = (runs: FinishedRun[]) =>
  scenarioTable({ success, players, trained: [{ experiment, runs }], seeds: 2 }).split('\n')

describe("the table of a scenario's README", () => {
  it('has the criteria, players that there are, and trained agents with their intervals', () => {
    const runs = [run(1, { cost: 0.3, solved: 0.97 }), run(2, { cost: 0.3, solved: 0.95 })]
    expect(tableOf(runs).slice(0, 6)).toEqual([
      '| Player | `cost` | `solved` | Seeds that met all |',
      '|---|---:|---:|---:|',
      '| target | ≥ 0.3 | ≥ 0.95 |  |',
      '| random actions | 0.13 | 0.07 |  |',
      '| always the first action (0 in boxes) | −12.5 | 0.00 |  |',
      '| trained with nothing set, 1,000 steps | 0.30 (0.30 to 0.30) | 0.96 (0.95 to 0.97) | 1 of 2 |',
    ])
  })

  it('leaves a criterion empty that older runs did not record, and a row that nobody ran', () => {
    expect(tableOf([run(1, undefined)])[5]).toBe(
      '| trained with nothing set, 1,000 steps |  | 0.96 (0.96 to 0.96), 1 of 2 seeds | 1 of 1 |',
    )
    expect(tableOf([])[5]).toBe('')
  })
})

describe('a README', () => {
  it.each([
    ['# Desk\n\nText.\n\n## Source\n\nOurs.\n'],
    ['# Desk\n\nText.\n'],
    ['# Desk\n\n## Results\n\n| by hand |\n\n## Source\n\nOurs.\n'],
    ['# Desk\n\n## Results\n\n<!-- results -->\n\nold\n\n<!-- end of results -->\n\nWhy.\n\n## Source\n'],
  ])('keeps all but the table: %j', (readme) => {
    const written = withTable(readme, '| a |')
    expect(written.match(/^## Results$/gm)).toHaveLength(1)
    expect(written).toContain('<!-- results -->\n\n| a |\n\n<!-- end of results -->\n')
    expect(written).not.toContain('old')
    for (const line of readme.split('\n').filter((line) => line !== 'old')) expect(written).toContain(line)
    expect(withTable(written, '| a |')).toBe(written)
  })
})
