import { createRng } from '@agentgym/scenario'
import { expect, test } from 'vitest'
import { meansOf } from '../../baseline-players.ts'
import { sharedTokens } from '../../shared-tokens.ts'
import { type Call, dueCalls } from './analysis.ts'
import scenario, { VOCABULARY } from './index.ts'
import * as table from './table.ts'
import { generateTask, needsJoin } from './tasks.ts'

const tools = [
  'profile',
  'drop_duplicates',
  'repair_blanks',
  'convert_unit',
  'merge_labels',
  'join',
  'filter',
  'group_by',
  'aggregate',
  'answer',
]
const words: { [parameter: string]: readonly string[] } = {
  ...{ how: table.aggregations, divide_by: table.factors, rows: ['keep', 'drop'] },
  pick: ['value', 'highest', 'lowest'],
}

/** An analysis, and a way to make calls by name. */
async function open(index: number) {
  const context = { rng: createRng(index), task: { split: 'train', index } } as const
  const episode = await scenario.reset(context)
  return {
    state: episode.state,
    draw: () => scenario.render?.(episode),
    async call(call: Call) {
      const shown = scenario.observe(episode)
      const given = Object.entries('arguments' in call ? call.arguments : {}).map(([name, word]) => {
        const repair = call.tool === 'repair_blanks' && name === 'how'
        const choices = repair ? table.missingRepairs : (words[name] ?? [])
        if (name === 'column') return [name, shown.columns.findIndex(({ id }) => id === word)]
        return [name, name === 'value' ? shown.values.findIndex(({ id }) => id === word) : choices.indexOf(word)]
      })
      const action = { tool: tools.indexOf(call.tool), [call.tool]: Object.fromEntries(given) }
      return await scenario.step(episode, action as never, context)
    },
  }
}

/** The first analysis of this kind, brought by the procedure to where a call of this tool is due. */
async function openAt(tool: Call['tool'], accepts: (state: Awaited<ReturnType<typeof open>>['state']) => boolean) {
  for (let index = 0; index < 2000; index += 1) {
    const opened = await open(index)
    if (!accepts(opened.state)) continue
    for (let due = dueCalls(opened.state)[0]; due.tool !== 'answer'; due = dueCalls(opened.state)[0]) {
      if (due.tool === tool) return { ...opened, due }
      await opened.call(due)
    }
  }
  throw new Error(`no task for ${tool}`)
}

/** Follows the procedure to the end. */
async function finish({ state, call }: Pick<Awaited<ReturnType<typeof open>>, 'state' | 'call'>) {
  while (state.answer === null && state.callsLeft > 0) await call(dueCalls(state)[0])
  return state.answer
}

const row = (partner: number, ...cells: table.Cell[]): table.Row => ({ partner, cells })
const orders = [
  row(1, '7', 'Leeds', 'Lamp', null, 10, null),
  row(2, '8', 'leeds ', 'Lamp', null, 2000, 5),
  row(2, '8', 'leeds ', 'Lamp', null, 2000, 5),
  row(3, '9', 'York', 'Desk', null, 30, 7),
  row(3, '9', 'York', 'Lamp', null, 20, 7),
]

test('a profile counts repeats, copies, blanks, spellings and sizes', () => {
  expect(table.profile(orders, table.KEY)).toMatchObject({ repeated: 2 / 5, copied: 1 / 5 })
  expect(table.profile(orders, 1)).toMatchObject({ misspelt: 2 / 5, missing: 0 })
  expect(table.profile(orders, 4)).toMatchObject({ largestOverMedian: 2000 / 30, missing: 0 })
  expect(table.profile(orders, 5)).toMatchObject({ largestOverMedian: 1, missing: 1 / 5 })
})

test('zeros that were filled in do not look like another unit', () => {
  const mostlyBlank = [null, null, null, 4, 6].map((cell, i) => row(1, String(i), 'Leeds', 'Lamp', null, cell, 1))
  const filled = table.repairMissing(mostlyBlank, 4, 'fill with 0')
  expect(table.profile(filled, 4).largestOverMedian).toBe(1)
  expect(table.convertUnit(filled, 4, 100)).toEqual(filled)
})

test('operations do what they say', () => {
  expect(table.dropDuplicates(orders).map(({ cells }) => cells[0])).toEqual(['7', '8', '9'])
  expect(table.repairMissing(orders, 5, 'drop rows')).toHaveLength(4)
  expect(table.repairMissing(orders, 5, 'fill with 0')[0].cells[5]).toBe(0)
  expect(table.convertUnit(orders, 4, 100).map(({ cells }) => cells[4])).toEqual([10, 20, 20, 30, 20])
  const distinct = [...orders.slice(0, 2), ...orders.slice(3)]
  expect(table.convertUnit(distinct, 4, 100).map(({ cells }) => cells[4])).toEqual([10, 20, 30, 20])
  const merged = table.mergeLabels(distinct, 1)
  expect(merged.map(({ cells }) => cells[1])).toEqual(['Leeds', 'Leeds', 'York', 'York'])
  const joined = table.join(
    merged,
    new Map([
      [1, 'Retail'],
      [3, 'Hotel'],
    ]),
  )
  expect(joined.map(({ cells }) => cells[table.JOINED])).toEqual(['Retail', 'Hotel', 'Hotel'])
  expect(table.filter(merged, 2, 'Lamp', true)).toHaveLength(3)
  expect(table.filter(merged, 2, 'Lamp', false)).toHaveLength(1)
  expect(table.aggregate(merged, 1, 5, 'sum')).toEqual([
    { label: 'Leeds', value: 5 },
    { label: 'York', value: 14 },
  ])
  expect(table.aggregate(merged, null, 5, 'mean')).toEqual([{ label: 'all', value: 19 / 3 }])
  expect(table.aggregate(merged, null, 5, 'maximum')).toEqual([{ label: 'all', value: 7 }])
  expect(table.aggregate(merged, null, 5, 'count')).toEqual([{ label: 'all', value: 4 }])
})

test('the procedure finds the true answer of every task, without a needless repair; chance finds hardly any', () => {
  expect(meansOf(scenario, 'oracle', 192)).toMatchObject({ solved: 1, tool_reliability: 1, unneeded_repairs: 0 })
  for (const player of ['random', 'first'] as const) expect(meansOf(scenario, player, 96).solved).toBeLessThan(0.06)
})

test('a needed repair that is left out, and one that is not needed, make the answer wrong', async () => {
  const asks = (how: table.Aggregation) => (state: Awaited<ReturnType<typeof open>>['state']) =>
    state.task.question.aggregation === how && state.task.question.group === null
  // Amounts in cents among amounts in dollars.
  const mixed = await openAt('convert_unit', asks('sum'))
  if (mixed.due.tool !== 'convert_unit') throw new Error('not the call that was looked for')
  const wrong = mixed.due.arguments.divide_by === '100' ? '1000' : '100'
  await mixed.call({ tool: 'convert_unit', arguments: { ...mixed.due.arguments, divide_by: wrong } })
  const answered = await finish(mixed)
  expect(answered?.value).not.toBeCloseTo(mixed.state.task.answer.value, 6)
  // Several rows of one order are no copies.
  const lines = await openAt('aggregate', (state) => {
    const keys = table.profile(state.task.rows, table.KEY)
    return asks('count')(state) && keys.repeated > 0 && keys.copied === 0 && state.task.question.filter === null
  })
  await lines.call({ tool: 'drop_duplicates' })
  const counted = await finish(lines)
  expect(counted?.value).toBeLessThan(lines.state.task.answer.value)
})

test('a column with blanks is not aggregated, but its rows can be counted', async () => {
  const { state, call } = await openAt('repair_blanks', ({ task }) => task.question.aggregation === 'mean')
  const column = state.task.headings[state.task.question.measure]
  expect(await call({ tool: 'aggregate', arguments: { column, how: 'mean' } })).toMatchObject({ terminated: false })
  expect(state).toMatchObject({ failed: true, result: null })
  await call({ tool: 'aggregate', arguments: { column, how: 'count' } })
  expect(state.result).not.toBeNull()
})

test('the other column is there after the join only, and a needless join loses rows', async () => {
  const needed = await openAt('join', ({ task }) => needsJoin(task.question))
  expect(needed.state.joined).toBe(false)
  await needed.call({ tool: 'join' })
  expect(needed.state.rows.every(({ cells }) => cells[table.JOINED] !== null)).toBe(true)
  const needless = await openAt('aggregate', ({ task }) => !needsJoin(task.question))
  const before = needless.state.rows.length
  await needless.call({ tool: 'join' })
  expect(needless.state.rows.length).toBeLessThan(before)
})

test('no task is in both splits, and evaluation asks in words of its own', async () => {
  const seen = async (split: 'train' | 'eval') => {
    const tasks: string[] = []
    for (let index = 0; index < 500; index += 1) {
      const { state } = await scenario.reset({ rng: createRng(1), task: { split, index } })
      tasks.push(JSON.stringify([state.task.text, state.task.rows]))
    }
    return tasks
  }
  const trained = new Set(await seen('train'))
  const held = await seen('eval')
  expect(new Set(held).size).toBe(held.length)
  expect(held.filter((task) => trained.has(task))).toEqual([])
})

test('an agent can tell all words apart', () => {
  const splits = ['train', 'eval'] as const
  const tasks = splits.flatMap((split) => Array.from({ length: 400 }, (_, i) => generateTask(createRng(i), split)))
  expect(
    sharedTokens(
      tasks.map(({ text }) => text),
      VOCABULARY,
    ),
  ).toEqual([])
})

test('the table is drawn at every step', async () => {
  const { state, call, draw } = await open(5)
  while (state.answer === null) {
    const scene = draw()
    expect(scene?.shapes.length).toBeGreaterThan(10)
    expect(scene?.shapes.length).toBeLessThanOrEqual(400)
    await call(dueCalls(state)[0])
  }
})
