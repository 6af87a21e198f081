import type { ProgressEvent } from '@agentgym/contract'
import { describe, expect, it } from 'vitest'
import { recordedPlan, recordedRun } from '../../test/recorded-run.ts'
import { advanceRunState, secondsLeft, startRunState } from './run-state.ts'

const { events, result } = recordedRun()
const firstProgress = events.find((event): event is ProgressEvent => event.event === 'progress')
if (!firstProgress) throw new Error('the recording has no progress')
const progress: ProgressEvent = firstProgress

describe('run state', () => {
  it('folds a whole run', () => {
    const state = events.reduce(advanceRunState, startRunState(recordedPlan))
    expect(state.progress?.steps).toBe(result.steps)
    expect(state.evaluation).toEqual(result.evaluation)
    expect(state.returns.length).toBeGreaterThan(50)
    expect(state.criteria).toHaveLength(1)
    expect(state.criteria[0]).toMatchObject({
      metric: 'return_mean',
      target: 475,
      heldOut: result.evaluation.return_mean,
    })
    expect(state.log[0].text).toContain('Starts ppo')
  })

  it('shows no criteria before an episode has ended', () => {
    const state = advanceRunState(startRunState(recordedPlan), { ...progress, return_mean: null })
    expect(state.returns).toEqual([])
    expect(state.criteria[0]).toMatchObject({ current: null, reached: false })
  })

  it('does not treat an inherited property as a metric', () => {
    const state = startRunState({ ...recordedPlan, success: { constructor: 1, toString: 0 } })
    expect(advanceRunState(state, progress).criteria.map((criterion) => criterion.current)).toEqual([null, null])
  })

  it('stays small for a million iterations, and keeps the newest point', () => {
    let state = startRunState(recordedPlan)
    for (let steps = 1; steps <= 5000; steps++)
      state = advanceRunState(state, { ...progress, steps, return_mean: steps })
    expect(state.returns.length).toBeLessThanOrEqual(1024)
    expect(state.returns.at(-1)).toEqual({ steps: 5000, value: 5000 })
    expect(state.log.length).toBeLessThanOrEqual(100)
  })

  it('shows no time left without a rate', () => {
    expect(secondsLeft({ ...progress, steps_per_second: 0 })).toBeNull()
    expect(secondsLeft({ ...progress, steps: 50, steps_total: 150, steps_per_second: 10 })).toBe(10)
  })
})
