import { expect, it } from 'vitest'
import type { SpaceDescription } from '../space-description.ts'
import { observationOf } from './asked-agent.ts'

const number = { type: 'discrete', n: 4, start: 0 } as SpaceDescription
const text = { type: 'text', maxTokens: 8, vocabulary: 64 } as unknown as SpaceDescription
const read = (words: string, space = number) => observationOf(words, space, 'messages')

it('an observation is JSON, alone or the last block of a text', () => {
  expect(read('{"found": 1}')).toEqual({ found: 1 })
  expect(read('Current Task: solve it.\n```json\n{"found": 1}\n```\nThis is expected: …')).toEqual({ found: 1 })
  expect(read('```json\n1\n```\n and then \n```json\n[\n2\n]\n```')).toEqual([2])
  expect(read('```json\nnot JSON\n```')).toBe('```json\nnot JSON\n```')
  expect(read('Thank you!')).toBe('Thank you!')
})

it('an agent that observes text gets the text', () => {
  expect(read('42', text)).toBe('42')
  expect(read('"42"', text)).toBe('42')
  expect(read('see\n```json\n"42"\n```', text)).toBe('see\n```json\n"42"\n```')
})
