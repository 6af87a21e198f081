import type { RunEvent, ServerStatus } from '@agentgym/contract'
import { describe, expect, it } from 'vitest'
import { formatDuration } from '../../format.ts'
import { describeMachines } from './new-run.tsx'
import { describeEvent } from './run-log.tsx'

describe('a duration', () => {
  it.each([
    [0, '0 s'],
    [59.4, '59 s'],
    [59.6, '1 min'],
    [190, '3 min 10 s'],
    [3_600, '1 h'],
    [7_500, '2 h 5 min'],
    [360_000, '4 days'],
  ])('of %d seconds is %s', (seconds, words) => expect(formatDuration(seconds)).toBe(words))
})

describe('a line of the log', () => {
  const line = (event: object) => describeEvent({ seq: 1, at: '2026-01-01T00:00:00Z', ...event } as RunEvent, 'EUR')
  const running = { worker: 'gpu-1', attempt: 1, price_minor_per_hour: 0, from_iteration: 0 }

  it('shows what happened, and the cost', () => {
    expect(line({ type: 'running', data: running })).toBe('Training on gpu-1 from the start, free.')
    const again = { ...running, price_minor_per_hour: 250, from_iteration: 40 }
    expect(line({ type: 'running', data: again })).toBe('Training on gpu-1 from iteration 40, €2.50 per hour.')
    expect(line({ type: 'queued', data: { reason: 'lease_expired', message: null } })).toContain(
      'lost contact with the worker',
    )
    expect(line({ type: 'budget_exceeded', data: { spent_minor: 100, budget_minor: 100 } })).toContain('€1.00 of €1.00')
    expect(line({ type: 'failed', data: { error: { code: 'internal_error', message: 'Why.' } } })).toBe('Failed. Why.')
    expect(line({ type: 'published', data: { name: '@a/b', version: '1.0.0' } })).toBe('Published as @a/b@1.0.0.')
  })

  it.each([
    [{ return_mean: null, episodes: 0, success: { ok: null } }, 'no completed episode over 0 episodes.'],
    [{ return_mean: 475, episodes: 100, success: { ok: true } }, 'mean return 475 over 100 episodes, success.'],
    [{ return_mean: 12.5, episodes: 100, success: { ok: false } }, '12.5 over 100 episodes, targets not met.'],
  ])('shows an evaluation %o', (evaluation, words) => {
    expect(line({ type: 'evaluation', data: { iteration: 1, steps: 1_000, evaluation } })).toContain(words)
  })
})

describe('the machines', () => {
  const worker = { state: 'idle', price_minor_per_hour: 0 }
  const status = (workers: object[], queued = 0) => ({ workers, queue: { train: { queued } } }) as ServerStatus

  it('are shown with queue and price', () => {
    expect(describeMachines(status([]), 'EUR')).toContain('No worker is connected')
    expect(describeMachines(status([{ ...worker, state: 'silent' }]), 'EUR')).toContain('No worker is connected')
    expect(describeMachines(status([worker]), 'EUR')).toBe(
      '1 of 1 worker idle, no runs queued. Training is free on this server.',
    )
    const dear = { state: 'busy', price_minor_per_hour: 300 }
    expect(describeMachines(status([worker, dear], 2), 'EUR')).toBe(
      '1 of 2 workers idle, 2 queued. Training costs €0.00 to €3.00 per hour.',
    )
  })
})
