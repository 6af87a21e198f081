import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { SpaceDescription } from '../space-description.ts'
import { legalWords, readToolChoice, toolCallOf, toolNames } from './tools.ts'

const choosing = (labels: string[]): SpaceDescription => ({ type: 'discrete', n: labels.length, start: 0, labels })

describe('names of tools (B37)', () => {
  it('are what model APIs take, unique, and mean one word each', () => {
    const words = fc.uniqueArray(fc.oneof(fc.string({ maxLength: 90 }), fc.constantFrom('a.b', 'a/b', 'a_b', 'a b')), {
      minLength: 1,
      maxLength: 12,
    })
    fc.assert(
      fc.property(words, (given) => {
        const names = toolNames(given)
        expect([...names.values()].toSorted()).toEqual(given.toSorted())
        for (const name of names.keys()) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/)
      }),
    )
  })

  it('keep a word that is one already, whatever stands before it', () => {
    expect(Object.fromEntries(toolNames(['acme/maze.v2', 'acme_maze_v2', 'x'.repeat(80)]))).toEqual({
      'acme_maze_v2-2': 'acme/maze.v2',
      acme_maze_v2: 'acme_maze_v2',
      ['x'.repeat(64)]: 'x'.repeat(80),
    })
  })

  it('are mapped back', () => {
    const space = choosing(['acme/maze.v2', 'stop'])
    const offer = { tools: ['acme_maze_v2', 'stop'], choice: 'auto' as const }
    expect(legalWords(offer, space)).toEqual(new Set(['acme/maze.v2', 'stop']))
    const answer = { action: 0, label: 'acme/maze.v2', probabilities: null }
    expect(toolCallOf(offer, answer, space)).toEqual({ name: 'acme_maze_v2', arguments: '{}' })
  })
})

it('a forced tool is read as both APIs write it', () => {
  expect(readToolChoice({ type: 'function', function: { name: 'refund' } })).toEqual({ name: 'refund' })
  expect(readToolChoice({ type: 'function', name: 'refund' })).toEqual({ name: 'refund' })
  expect(['none', 'required', 'auto', undefined, null, 7].map(readToolChoice)).toEqual([
    ...['none', 'required', 'auto', 'auto', 'auto', 'auto'],
  ])
})

it('a tool that must be called and is not known is refused with those that are', () => {
  const space = choosing(['refund', 'close'])
  expect(legalWords({ tools: ['pizza'], choice: 'auto' }, space)).toBeNull()
  expect(() => legalWords({ tools: ['pizza'], choice: 'required' }, space)).toThrow('it knows refund, close')
})
