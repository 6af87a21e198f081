import type { SampleEpisode } from '@agentgym/contract'
import { expect, test } from 'vitest'
import { describeStep } from './episode.ts'

const leaf = (name: string, kind: 'discrete' | 'box', labels: string[] = []) => ({
  ...{ name, kind, size: 1, shape: [1], labels },
})
const seen = { observation: [0], texts: [] }

test('a call of a tool shows its own arguments, by their names', () => {
  const episode: SampleEpisode = {
    format: 1,
    policy: 'agent',
    view: null,
    observation: [{ name: '', kind: 'box', size: 1, shape: [1] }],
    action: [
      leaf('tool', 'discrete', ['wait', 'refund', 'rate']),
      { ...leaf('refund.order', 'discrete'), list: 'orders' },
      leaf('refund.percent', 'box'),
      leaf('refund.reason', 'discrete', ['late', 'lost']),
      leaf('rate.stars', 'box'),
    ],
    steps: [
      { ...seen, action: [1, 2, 50, 1, 0], reward: 1 },
      { ...seen, action: [0, 0, 0, 0, 0], reward: 0 },
    ],
    last: seen,
    end: 'terminated',
  }
  expect(describeStep(episode, 1)).toContain('refund(order: orders[2], percent: 50, reason: "lost")')
  expect(describeStep(episode, 2)).toContain('wait()')
})
