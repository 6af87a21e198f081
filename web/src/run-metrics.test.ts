import type { ProgressEvent } from '@agentgym/contract'
import { describe, expect, it } from 'vitest'
import { evaluated, pathOf, runMetrics, seriesOf } from './run-metrics.ts'

const learner: ProgressEvent['learner'] = {
  ...{
    policy_loss: 0.1,
    value_loss: null,
    entropy: 0.3,
    approximate_kl: null,
    clip_fraction: 0.2,
    gradient_norm: null,
  },
  ...{ explained_variance: null, kl_to_reference: null, zero_variance_groups: null, learning_rate: null },
}
const point = (steps: number, episodes_total: number, metrics: Record<string, number> = {}): ProgressEvent => ({
  ...{ event: 'progress', iteration: steps, steps, steps_total: 100, steps_per_second: 5, seconds: steps, learner },
  ...{ collect_seconds: 0.5, update_seconds: 0.5, episodes: 1, episodes_total, metrics },
  return_mean: episodes_total === 0 ? null : steps,
  length_mean: null,
})

describe('metrics of a run', () => {
  it('are those that it has reported, the scenario’s own among them', () => {
    const points = [point(1, 0), point(2, 25, { 'very.odd_name': 1, eaten: 3 })]
    const found = runMetrics(points, { eaten: 0.5 })
    expect(found.map(({ path }) => path)).toEqual([
      ...['return_mean', 'metrics.very.odd_name', 'metrics.eaten'],
      ...['learner.policy_loss', 'learner.entropy', 'learner.clip_fraction'],
      ...['steps_per_second', 'collect_seconds', 'update_seconds'],
    ])
    expect(found[1]).toEqual({
      ...{ path: 'metrics.very.odd_name', title: 'Very.odd name', group: 'episodes', unit: 'number' },
    })
    // By its target.
    expect(found[2].unit).toBe('share')
  })

  it('before the first iteration are those of every algorithm, and of the targets', () => {
    expect(runMetrics([], { return_mean: 1, solved: 0.9 }).map(({ path }) => path)).toEqual([
      ...['return_mean', 'length_mean', 'steps_per_second', 'learner.policy_loss', 'learner.value_loss'],
      'metrics.solved',
    ])
  })
})

it('a series is faint where its means are of few episodes', () => {
  const points = [point(1, 0), point(2, 19, { solved: 0.5 }), point(3, 20)]
  expect(seriesOf(points, 'return_mean')).toEqual([
    ...[
      { x: 1, y: null, faint: true },
      { x: 2, y: 2, faint: true },
      { x: 3, y: 3 },
    ],
  ])
  expect(seriesOf(points, 'metrics.solved').map(({ y }) => y)).toEqual([null, 0.5, null])
  expect(seriesOf(points, 'learner.entropy')).toEqual([1, 2, 3].map((x) => ({ x, y: 0.3 })))
  for (const path of ['metrics.toString', 'learner.constructor', '__proto__', 'metrics'])
    expect(seriesOf(points, path).every(({ y }) => y === null)).toBe(true)
})

it('evaluations have the same metrics', () => {
  const evaluation = {
    ...{ scenario: 'a@1.0.0', episodes: 1, return_mean: 5, return_std: 0, length_mean: 2, metrics: { solved: 0.5 } },
    ...{ success: { ok: null, criteria: [] }, trajectory_hash: '' },
  }
  expect(['return_mean', 'solved', 'toString'].map((metric) => evaluated(evaluation, pathOf(metric)))).toEqual([
    ...[5, 0.5, null],
  ])
})
