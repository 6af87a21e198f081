import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { readAnswers } from './read-answers.ts'

const calls = [{ id: randomUUID() }, { id: randomUUID() }]
const answer = (id: string, change: object = {}) => ({
  ...{ id, action: 1, label: null, probabilities: [0.25, 0.75], model_ms: 0.1 },
  ...change,
})
const [first, second] = calls.map(({ id }) => answer(id))

function nested(depth: number): unknown {
  let value: unknown = 1
  for (let i = 0; i < depth; i++) value = [value]
  return value
}

it('takes one answer a call', () => {
  const failed = { id: second.id, error: { code: 'observation_invalid', message: 'No.' } }
  expect(readAnswers([first, failed], calls)).toEqual([first, failed])
})

it.each<[string, unknown]>([
  ['nothing', undefined],
  ['no list', { 0: first, 1: second }],
  ['too few', [first]],
  ['too many', [first, second, second]],
  ['one twice', [first, first]],
  ['another order', [second, first]],
  ['an id of no call', [first, answer(randomUUID())]],
  ['a field more', [first, answer(second.id, { price: 0 })]],
  ['no time', [first, answer(second.id, { model_ms: -1 })]],
  ['what is no probability', [first, answer(second.id, { probabilities: [2, -1] })]],
  ['numbers that JSON has not', [first, answer(second.id, { action: Number.NaN })]],
  ['what JSON has not', [first, answer(second.id, { action: 1n })]],
  ['a code that nobody knows', [first, { id: second.id, error: { code: 'paid', message: '' } }]],
  ['very much', [first, answer(second.id, { action: 'x'.repeat(2 ** 21) })]],
  ['a long story', [first, { id: second.id, error: { code: 'model_timeout', message: 'x'.repeat(5_000) } }]],
  ['a nest', [first, answer(second.id, { action: nested(100_000) })]],
])('ends a process that sends %s', (_, received) => {
  expect(() => readAnswers(received, calls)).toThrow(expect.objectContaining({ code: 'model_crashed' }))
})
