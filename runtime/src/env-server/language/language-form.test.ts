import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type AgentGymError, type ScenarioView, type SpaceDescription, scenarioPackageSchema } from '@agentgym/contract'
import { describeScenario } from '@agentgym/scenario/engine'
import { describe, expect, test } from 'vitest'
import cartPole from '../../../../plugins/cart-pole/src/index.ts'
import gridMaze from '../../../../plugins/grid-maze/src/index.ts'
import pendulum from '../../../../plugins/pendulum/src/index.ts'
import returnsDesk from '../../../../plugins/returns-desk/src/index.ts'
import { anyAction } from './any-action.ts'
import { LanguageForm } from './language-form.ts'
import { observationText } from './observation-text.ts'
import type { Seen } from './read-action.ts'
import { readSample } from './read-sample.ts'

const plugins = join(import.meta.dirname, '../../../../plugins')
const manifestOf = (name: string) =>
  scenarioPackageSchema.parse(JSON.parse(readFileSync(join(plugins, name, 'package.json'), 'utf8')))
const formOf = (name: string, definition: unknown) => new LanguageForm(describeScenario(definition), manifestOf(name))
const desk = formOf('returns-desk', returnsDesk)
const cart = formOf('cart-pole', cartPole)
const maze = formOf('grid-maze', gridMaze)
const swing = formOf('pendulum', pendulum)

const twoOrders = {
  message: 'the kettle arrived broken',
  damage: [0.25],
  orders: [
    { id: 'A-1', features: [0, 1, 0, 0, 0, 0, 0.4, 0.2] },
    { id: 'A-2', features: [1, 0, 0, 0, 0, 0, 0.9, 0.1] },
  ],
}
const everything = { observation: twoOrders, legal: null } satisfies Seen
const failure = (act: () => unknown): AgentGymError => {
  try {
    act()
  } catch (error) {
    return error as AgentGymError
  }
  throw new Error('it was understood')
}

describe('an observation in words', () => {
  test('has texts, named numbers and a line for each item', () => {
    expect(desk.text(twoOrders)).toBe(
      [
        'the kettle arrived broken',
        'damage in the photo: 0.25',
        'orders:',
        '- A-1 (kettle, price/$100 0.4, age/15 days 0.2)',
        '- A-2 (lamp, price/$100 0.9, age/15 days 0.1)',
      ].join('\n'),
    )
    expect(cart.text([0.123456, -1, 0.5, 2])).toBe(
      ['position: 0.1235', 'observation[1]: -1', 'angle: 0.5', 'observation[3]: 2'].join('\n'),
    )
  })

  test('names the features of every list that a built-in scenario shows', async () => {
    const listsOf = (space: SpaceDescription, path = ''): [string, number][] => {
      if (space.type === 'list') return [[path, space.features]]
      if (space.type !== 'dict') return []
      return space.entries.flatMap(({ name, space: inner }) => listsOf(inner, path === '' ? name : `${path}.${name}`))
    }
    for (const name of globSync('*/package.json', { cwd: plugins }).map(dirname).sort()) {
      const { default: definition } = await import(join(plugins, name, 'src/index.ts'))
      const { view } = manifestOf(name).agentgym
      const named = view?.kind === 'transcript' ? view.lists : undefined
      expect([name, (named ?? []).map((list) => [list.name, list.features.length])]).toEqual([
        name,
        listsOf(describeScenario(definition).observation),
      ])
    }
  })

  test('says the name of an item once', () => {
    const view: ScenarioView = { kind: 'transcript', lists: [{ name: '', features: ['shelf', 'closed'] }] }
    const space: SpaceDescription = { type: 'list', slots: 2, features: 2 }
    expect(observationText(space, [{ id: 'shelf', features: [1, 1] }], view)).toBe('items:\n- shelf (closed)')
  })

  test('shows a board as rows of characters', () => {
    const board = Array<number>(75).fill(0)
    board[0] = 1
    board[25 + 12] = 1
    board[50 + 24] = 1
    const lines = maze.text({ view: board, compass: [0, 1] }).split('\n')
    expect(lines.slice(0, 5)).toEqual(['#....', '.....', '..:..', '.....', '....G'])
    expect(lines[5]).toContain('the agent is in the middle')
  })
})

describe('an action in words', () => {
  test('is a word of the choice, however it is said', () => {
    const seen = { observation: [0, 0, 0, 0], legal: null }
    for (const text of [
      'right',
      ' Right. ',
      'Action: right',
      'I think.\nAction: RIGHT',
      '{"action": "right"}',
      '"right"',
      '1',
    ])
      expect(cart.replyRow(text, seen)).toEqual([1])
    expect(failure(() => cart.replyRow('up', seen))).toMatchObject({
      ...{ code: 'action_invalid', hint: 'Legal now: left, right.', data: { field: 'action' } },
    })
    expect(failure(() => cart.replyRow('  ', seen)).message).toContain('empty')
    const masked = { ...seen, legal: [[true, false]] }
    expect(failure(() => cart.replyRow('right', masked)).message).toContain('not legal now')
    expect(cart.legalActions(masked)).toEqual(['left'])
  })

  test('is the call of a tool, as JSON, as code or as plain words', () => {
    const row = desk.callRow('refund', { order: 'A-2', percent: 30, reason: 'broken' }, everything)
    const said = [
      '{"tool": "refund", "arguments": {"order": "A-2", "percent": 30, "reason": "broken"}}',
      '{"name": "refund", "arguments": "{\\"order\\": \\"A-2\\", \\"percent\\": 30, \\"reason\\": \\"broken\\"}"}',
      'refund(order="A-2", percent=30, reason=broken)',
      'Action: refund A-2, 30, broken',
      '```json\n{"tool_name": "refund", "arguments": {"reason": "broken", "percent": 30, "order": "a-2"}}\n```',
    ]
    for (const text of said) expect(desk.replyRow(text, everything)).toEqual(row)
    expect(desk.replyRow('find_orders', everything)[0]).toBe(0)
    expect(failure(() => desk.replyRow('find_orders A-1', everything)).message).toContain('takes none')
    for (const [given, field] of [
      [{ order: 'A-3', percent: 30, reason: 'broken' }, 'action.refund.order'],
      [{ order: 'A-1', percent: 101, reason: 'broken' }, 'action.refund.percent'],
      [{ order: 'A-1', percent: 30 }, 'action.refund'],
      [{ order: 'A-1', percent: 30, reason: 'broken', now: true }, 'action.refund'],
    ] as const)
      expect(failure(() => desk.callRow('refund', given, everything)).data.field).toBe(field)
  })

  test('is numbers within the bounds, compared in float32', () => {
    const seen = { observation: [1, 0, 0], legal: null }
    expect(swing.row([1.5], seen)).toEqual([1.5])
    expect(swing.row(1.5, seen)).toEqual([1.5])
    expect(swing.replyRow('{"action": [-2]}', seen)).toEqual([-2])
    expect(swing.row([2 + 1e-9], seen)).toEqual([2 + 1e-9])
    for (const wrong of [[2.1], [], [1, 1], ['1'], null, [Number.NaN]])
      expect(failure(() => swing.row(wrong, seen)).code).toBe('action_invalid')
  })

  test('can always be drawn, and is then understood', () => {
    let seed = 1
    const random = () => {
      seed = (seed * 48_271) % 2_147_483_647
      return seed / 2_147_483_647
    }
    const { action } = describeScenario(returnsDesk)
    for (let i = 0; i < 200; i++) {
      const drawn = anyAction(action, everything, random)
      expect(() => desk.row(drawn, everything)).not.toThrow()
    }
  })
})

test('tools have schemas, with the words that each argument may be', () => {
  const [, refund] = desk.tools
  expect(refund).toMatchObject({
    name: 'refund',
    inputSchema: {
      required: ['order', 'percent', 'reason'],
      properties: { percent: { type: 'integer', minimum: 0, maximum: 100 }, reason: { enum: expect.any(Array) } },
    },
  })
  expect(cart.tools).toMatchObject([
    { name: 'act', inputSchema: { properties: { action: { enum: ['left', 'right'] } }, required: ['action'] } },
  ])
})

test('an observation of a process that was taken over is refused', () => {
  const { observation } = describeScenario(returnsDesk)
  expect(readSample(observation, JSON.stringify(twoOrders))).toEqual(twoOrders)
  for (const bad of [
    '{}',
    'null',
    '[]',
    '{"message":1,"damage":[0],"orders":[]}',
    '{"message":"","damage":[],"orders":[]}',
  ])
    expect(() => readSample(observation, bad)).toThrow()
})
