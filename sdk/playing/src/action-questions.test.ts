import { expect, it } from 'vitest'
import { choiceOfArrow, idleChoice, questionsOf } from './action-questions.ts'

const leaf = { shape: [1], size: 1 }
const opened = {
  kind: 'opened' as const,
  observation: [],
  action: [
    { ...leaf, name: 'tool', kind: 'discrete' as const, labels: ['find', 'refund'] },
    { ...leaf, name: 'refund.order', kind: 'discrete' as const, labels: [], list: 'orders' },
    { ...leaf, name: 'refund.percent', kind: 'box' as const, labels: [] },
  ],
  controls: [
    { kind: 'discrete' as const, counts: [2], low: [], high: [] },
    { kind: 'discrete' as const, counts: [3], low: [], high: [], when: { column: 0, choice: 1 } },
    { kind: 'box' as const, counts: [], low: [0], high: [100], when: { column: 0, choice: 1 } },
  ],
  levels: [],
  maxSteps: 4,
  tasks: { train: 0, eval: 0 },
}

it('asks for the arguments of the chosen tool only, with their legal choices', () => {
  expect(questionsOf(opened, null, [null, null, null]).map(({ name }) => name)).toEqual(['tool'])
  expect(questionsOf(opened, null, [0, null, null]).map(({ name }) => name)).toEqual(['tool'])
  const legal = [
    [true, true],
    [true, false, true],
  ]
  const [, order, percent] = questionsOf(opened, legal, [1, null, null])
  expect(order).toMatchObject({ kind: 'choice', column: 1, name: 'refund.order' })
  expect(order.kind === 'choice' && order.options).toEqual([
    { label: 'orders[0]', legal: true },
    { label: 'orders[1]', legal: false },
    { label: 'orders[2]', legal: true },
  ])
  expect(percent).toEqual({ kind: 'number', column: 2, name: 'refund.percent', low: 0, high: 100 })
})

it('arrows mean the one action that has their word, and space the one that does nothing', () => {
  const options = ['coast', 'left engine', 'main engine', 'right engine'].map((label) => ({ label }))
  expect(['left', 'right', 'up', 'space'].map((arrow) => choiceOfArrow(options, arrow))).toEqual([
    1,
    3,
    undefined,
    undefined,
  ])
  expect(idleChoice(options)).toBe(0)
  expect(choiceOfArrow([{ label: 'turn left' }, { label: 'step left' }], 'left')).toBeUndefined()
  expect(idleChoice([{ label: 'go' }])).toBeUndefined()
})
