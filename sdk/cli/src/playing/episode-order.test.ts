import { expect, test } from 'vitest'
import { episodeOrder, levelText } from './episode-order.ts'

const levels = ['random', 'one ply', '1']
const first = (chosen: string | undefined, names = levels) => {
  const order = episodeOrder(names, chosen)
  return [0, 1, 2].map((i) => [order.number(i), order.level(order.number(i))])
}

test('all episodes are played in turn, or those of one level, by its name or its number', () => {
  const whole = [0, 1, 2].map((i) => [i, levels[i]])
  expect(first(undefined)).toEqual(whole)
  const second = [1, 4, 7].map((number) => [number, 'one ply'])
  expect(first('one ply')).toEqual(second)
  expect(first('2')).toEqual(second)
  // A name goes first.
  expect(first('1')).toEqual([2, 5, 8].map((number) => [number, '1']))
  expect(first(undefined, [])).toEqual([0, 1, 2].map((i) => [i, null]))
})

test('an unknown level is refused with the levels that there are', () => {
  for (const chosen of ['0', '4', '-1', '1.5', 'nothing like it', '']) {
    expect(() => first(chosen)).toThrow(
      expect.objectContaining({
        code: 'config_invalid',
        hint: expect.stringContaining('The levels are: 1 random, 2 one ply, 3 1.'),
      }),
    )
  }
  expect(() => first('randon')).toThrow(
    expect.objectContaining({ hint: expect.stringContaining('Did you mean random?') }),
  )
  expect(() => first('1', [])).toThrow('the scenario has no levels')
})

test('a level is named beside its episode', () => {
  expect(levelText(episodeOrder(levels, '2'), 4)).toBe(', level: one ply')
  expect(levelText(episodeOrder(['\u001b[2J', 'b'], undefined), 0)).not.toContain('\u001b')
  expect(levelText(episodeOrder([], undefined), 4)).toBe('')
})
