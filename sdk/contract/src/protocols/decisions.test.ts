import { describe, expect, it } from 'vitest'
import type { AgentAnswer } from './asked-agent.ts'
import { chosen, decisionOf, systemOneOf } from './decisions.ts'

const action = { type: 'discrete', n: 2, start: 0, labels: ['refund', 'escalate'] } as const
const agent = { observation: { type: 'box', shape: [1], low: [null], high: [null] }, action } as never
const answerOf = (confidence?: number | null): AgentAnswer => ({
  ...{ action: 0, label: 'refund', probabilities: [0.75, 0.25] },
  ...(confidence === undefined ? {} : { confidence }),
})

describe('confidence', () => {
  it.each([
    ['the chance of success of an agent that is calibrated', 0.61, 0.61],
    ['the probability of the choice of one that is not', null, 0.75],
    ['the same of agents that other servers describe', undefined, 0.75],
  ])('is %s, in both forms', (_, given, expected) => {
    const answer = chosen({ name: 'next', words: ['escalate', 'refund'] }, answerOf(given), agent)
    const decision = decisionOf({ model: 'm', input: '1', questions: [{ type: 'choice', name: 'next' }] }, 'm', [
      answer,
    ])
    const probabilities = [
      { value: 'escalate', probability: 0.25 },
      { value: 'refund', probability: 0.75 },
    ]
    expect(decision.answers).toEqual([
      { type: 'choice', name: 'next', choice: 'refund', confidence: expected, probabilities },
    ])
    const one = systemOneOf({ model: 'm', state: '1', questions: { next: { type: 'choice' } } }, 'm', [answer])
    expect(one.answers).toEqual({
      next: { type: 'choice', choice: 'refund', confidence: expected, probabilities: { escalate: 0.25, refund: 0.75 } },
    })
  })
})
