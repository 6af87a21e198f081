import { createRng } from '@agentgym/scenario'
import { expect, it } from 'vitest'
import { intents, wordings, writeTicket } from './wordings.ts'

/** Words that say nothing about what a ticket asks for. */
const common = new Set(
  `a again all am an and are as at be been before by can could do does for from has have i in is it like me my no not now of
  off on one or our please so still that the there this to up us was we what when where will with would yet you your`.split(
    /\s+/,
  ),
)

const contentWords = (sentences: string[]) =>
  new Set(sentences.flatMap((each) => each.toLowerCase().match(/[a-z]+/g) ?? []).filter((word) => !common.has(word)))

it.each(intents)('asks for %s in evaluation without a content word of its training wordings', (intent) => {
  const { train, eval: held } = wordings[intent]
  expect([...contentWords(held)].filter((word) => contentWords(train).has(word))).toEqual([])
})

it('writes tickets of every intent, with no placeholder left', () => {
  const tickets = Array.from({ length: 300 }, (_, i) => writeTicket(i % 2 === 0 ? 'train' : 'eval', createRng(i)))
  expect(new Set(tickets.map(({ intent }) => intent)).size).toBe(intents.length)
  for (const { text } of tickets) expect(text).not.toMatch(/[{}]/)
})
