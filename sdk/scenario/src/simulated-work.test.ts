import { describe, expect, test } from 'vitest'
import { createRng } from './engine/random-stream.ts'
import {
  answer,
  drawFailures,
  fails,
  fillIn,
  oneHot,
  RecordStore,
  taskRng,
  typeInHaste,
  withDistinctIds,
} from './simulated-work.ts'

test('tasks of the two splits share no random numbers, and a number always gives the same task', () => {
  const numbers = (split: 'train' | 'eval', index: number) => {
    const rng = taskRng({ split, index }, 50)
    return [rng(), rng(), rng()].join()
  }
  const train = Array.from({ length: 50 }, (_, index) => numbers('train', index))
  const held = Array.from({ length: 50 }, (_, index) => numbers('eval', index))
  expect(new Set([...train, ...held]).size).toBe(100)
  expect(numbers('eval', 7)).toBe(held[7])
})

test('slots are filled from texts and lists, also slots within them', () => {
  const wordings = { name: 'Ada', greeting: ['Hello {name}'], empty: [''] }
  expect(fillIn('{greeting}, {name}{empty}!', wordings, createRng(1))).toBe('Hello Ada, Ada!')
  expect(() => fillIn('{nobody}', wordings, createRng(1))).toThrow('no wording for {nobody}')
})

test('a text typed in haste keeps its words, but for their case, their punctuation and two letters', () => {
  const text = 'Please send the invoice again, thanks!'
  const letters = (typed: string) => [...typed.toLowerCase().replace(/[^a-z]/g, '')].sort().join('')
  const typed = Array.from({ length: 200 }, (_, seed) => typeInHaste(text, createRng(seed)))
  for (const each of typed) expect(letters(each)).toBe(letters(text))
  expect(new Set(typed).size).toBeGreaterThan(10)
  expect(typed).toContain(text)
})

test('an id that was drawn twice is told apart', () => {
  expect(withDistinctIds([{ id: 'a' }, { id: 'a' }, { id: 'b' }]).map(({ id }) => id)).toEqual(['a', 'a-1', 'b'])
})

test('answers and words as numbers', () => {
  expect([true, false, undefined].map(answer)).toEqual([1, -1, 0])
  expect(oneHot(['a', 'b'], 'b')).toEqual([0, 1])
  expect(oneHot(['a', 'b'], null)).toEqual([0, 0])
})

test('a failure happens once, about as often as its probability says', () => {
  let failed = 0
  for (let seed = 0; seed < 400; seed += 1) {
    const failures = drawFailures({ search: 0.25, save: 0 }, createRng(seed))
    expect(fails(failures, 'save')).toBe(false)
    if (fails(failures, 'search')) failed += 1
    expect(fails(failures, 'search')).toBe(false)
  }
  expect(failed).toBeGreaterThan(70)
  expect(failed).toBeLessThan(130)
})

describe('a store of records', () => {
  test('refuses a change of what someone else has changed', () => {
    const store = new RecordStore([{ id: 'a', free: true }])
    const [seen] = store.all()
    expect(store.update('a', seen.version, { free: false })).toBe('done')
    expect(store.update('a', seen.version, { free: true })).toBe('conflict')
    expect(store.get('a')).toMatchObject({ free: false, version: 1 })
    expect(seen.free).toBe(true)
  })

  test('knows the records that it has', () => {
    const store = new RecordStore([{ id: 'a' }])
    expect(store.update('b', 0, {})).toBe('unknown_id')
    expect(store.remove('a')).toBe('done')
    expect(store.remove('a')).toBe('unknown_id')
    expect(() => new RecordStore([{ id: 'a' }, { id: 'a' }])).toThrow('occurs twice')
  })
})
