import { createRng } from '@agentgym/scenario'
import { expect, test } from 'vitest'
import { meansOf } from '../../baseline-players.ts'
import { combine, compare, type Fraction, format, operators, whole } from './arithmetic.ts'
import type { State } from './game.ts'
import scenario, { CALCULATIONS, TAKE_BACK } from './index.ts'
import { drawPuzzle, isSolvable, moves, splitOf } from './puzzle.ts'

const sorted = (...numbers: number[]) => numbers.map(whole).sort(compare)

/** A game with these numbers, and a way to make moves by their labels. */
async function openGame(numbers: number[], target = 24) {
  const context = { rng: createRng(1), task: { split: 'train', index: 0 } } as const
  const state: State = await scenario.reset(context)
  state.target = whole(target)
  // A calculation that is made and taken back opens the sheet of these numbers.
  state.sheets = [{ numbers: sorted(...numbers, 0), options: [], tried: [] }]
  state.sheets[0].options[0] = { numbers: sorted(...numbers), result: whole(0), near: false }
  scenario.step(state, 0, context)
  state.sheets.shift()
  state.calculationsLeft = CALCULATIONS
  return {
    state,
    move: (label: string) =>
      scenario.step(
        state,
        moves.findIndex((move) => move.label === label),
        context,
      ),
    takeBack: () => scenario.step(state, TAKE_BACK, context),
    shown: () => state.sheets[state.sheets.length - 1].numbers.map(format),
    near: () =>
      state.sheets[state.sheets.length - 1].options.flatMap((option, i) => (option?.near ? moves[i].label : [])),
  }
}

test('a search solves every game in three calculations; chance and moves in their order solve few', () => {
  expect(meansOf(scenario, 'oracle', 192)).toMatchObject({ solved: 1, calculations: 3 })
  expect(meansOf(scenario, 'random', 192).solved).toBeLessThan(0.06)
  expect(meansOf(scenario, 'first', 192).solved).toBeLessThan(0.2)
})

test('arithmetic is exact', () => {
  const third = combine(whole(1), 'a ÷ b', whole(3)) as Fraction
  const sum = [third, third].reduce((a, b) => combine(a, 'a + b', b) as Fraction, third)
  expect(format(sum)).toBe('1')
  expect(compare(sum, whole(1))).toBe(0)
  expect(
    operators.map((operator) => combine(whole(4), operator, whole(6))).map((result) => result && format(result)),
  ).toEqual(['10', '2', '24', '3/2', '2/3'])
  expect(combine(whole(0), 'b ÷ a', whole(5))).toBeNull()
})

test('a game that needs fractions: 8 ÷ (3 − 8 ÷ 3) is 24', async () => {
  const { move, shown } = await openGame([3, 3, 8, 8])
  await move('3rd ÷ 1st')
  expect(shown()).toEqual(['8/3', '3', '8'])
  await move('2nd − 1st')
  expect(shown()).toEqual(['1/3', '8'])
  expect(await move('2nd ÷ 1st')).toEqual({ reward: 1, terminated: true })
  expect(shown()).toEqual(['24'])
})

test('what is taken back is crossed out, and its calculations are spent', async () => {
  const { state, move, takeBack, shown } = await openGame([1, 5, 5, 5])
  await move('1st + 2nd')
  expect(await takeBack()).toEqual({ reward: -0.05, terminated: false })
  expect(shown()).toEqual(['1', '5', '5', '5'])
  expect(state.calculationsLeft).toBe(CALCULATIONS - 1)
  expect(state.sheets[0].tried).toEqual(['1 + 5 = 6'])
  const mask = scenario.actionMask?.(state) as boolean[]
  expect(mask[moves.findIndex(({ label }) => label === '1st + 2nd')]).toBe(false)
  expect(mask[TAKE_BACK]).toBe(false)
  await expect(async () => move('1st + 2nd')).rejects.toThrow('crossed out')
})

test('a move is marked if one more calculation can make the target of two numbers', async () => {
  const { move, near } = await openGame([2, 3, 4, 10])
  expect(near()).toContain('2nd × 3rd')
  await move('1st + 4th')
  // 3 × 4 = 12 leaves 12 + 12, and 12 − 4 = 8 leaves 3 × 8.
  expect(near()).toEqual(['1st × 2nd', '3rd − 2nd'])
})

test('calculations run out', async () => {
  const { move, state } = await openGame([1, 1, 1, 1])
  state.calculationsLeft = 1
  expect(await move('1st + 2nd')).toEqual({ reward: 0, terminated: true })
})

test('puzzles have solutions, every third is the classical game, and no four numbers are in both splits', () => {
  const combinations = { train: new Set<string>(), eval: new Set<string>() }
  const puzzles = new Set<string>()
  for (const split of ['train', 'eval'] as const) {
    for (let index = 0; index < 600; index += 1) {
      const { numbers, target } = drawPuzzle({ split, index })
      expect(isSolvable(numbers, target)).toBe(true)
      expect(splitOf(numbers)).toBe(split)
      if (index % 3 === 0) {
        expect(target).toEqual(whole(24))
        expect(Math.max(...numbers.map(({ top }) => top))).toBeLessThanOrEqual(13)
      } else if (split === 'eval') puzzles.add([...numbers, target].map(format).join(' '))
      combinations[split].add(numbers.map(format).join(' '))
    }
  }
  expect([...combinations.eval].filter((numbers) => combinations.train.has(numbers))).toEqual([])
  // 400 draws from more than a million.
  expect(puzzles.size).toBe(400)
})

test('a game is drawn with what is crossed out', async () => {
  const { state, move, takeBack } = await openGame([3, 3, 8, 8])
  await move('1st + 2nd')
  await takeBack()
  await move('3rd ÷ 1st')
  const texts = scenario.render?.(state).shapes.flatMap((shape) => (shape.kind === 'text' ? shape.text : []))
  expect(texts).toEqual(
    expect.arrayContaining(['make 24', '10 calculations left', '✗ 3 + 3 = 6', '8 ÷ 3 = 8/3', '8/3']),
  )
})
