import { describe, expect, it } from 'vitest'
import type { OwnIteration } from './joined-run.ts'
import { estimateAlone, payWatch } from './processes-pay.ts'

const threads = (rollout_workers: number, learner_threads = 1) => ({ rollout_workers, learner_threads })

const iteration = (changes: Partial<OwnIteration> = {}): OwnIteration => ({
  steps: 2048,
  collectSeconds: 1,
  updateSeconds: 3,
  gradientSeconds: 2,
  sharedSeconds: 0.5,
  ...changes,
})

describe('estimateAlone', () => {
  it('multiplies what divides, and leaves out what one process has not', () => {
    const { together, alone, shared } = estimateAlone([iteration(), iteration()], threads(1), threads(1))
    expect({ together, alone, shared }).toEqual({ together: 4, alone: 2 + 4 + 0.5, shared: 0.5 })
  })

  it('counts the threads that one process would have', () => {
    expect(estimateAlone([iteration(), iteration()], threads(1), threads(2, 2)).alone).toBe(1 + 2 + 0.5)
  })

  it('takes the slowest for the rollout', () => {
    const slow = iteration({ collectSeconds: 2 })
    expect(estimateAlone([iteration(), slow], threads(1), threads(2)).together).toBe(5)
  })
})

describe('payWatch', () => {
  const noticesOf = (one: OwnIteration, iterations: number) => {
    const notices: string[] = []
    const watch = payWatch(threads(1), threads(2), (message, hint) => notices.push(`${message}. ${hint}`))
    for (let i = 0; i < iterations; i++) watch([one, one])
    return notices
  }
  const dear = iteration({ collectSeconds: 0.01, updateSeconds: 0.1, gradientSeconds: 0.01, sharedSeconds: 0.08 })

  it('notices once, after the first iterations, that processes wait more than they save', () => {
    expect(noticesOf(dear, 5)).toEqual([])
    expect(noticesOf(dear, 100)).toEqual([
      "2 processes do not pay here: an iteration takes 110 ms, of which 80 ms are spent waiting for each other's gradients; one process would take about 40 ms. Use --processes 1. Several processes pay for larger networks and minibatches, and for slow scenarios.",
    ])
  })

  it('says nothing where they pay', () => {
    expect(noticesOf(iteration({ sharedSeconds: 0.1, gradientSeconds: 2.8 }), 100)).toEqual([])
  })
})
