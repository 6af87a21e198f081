import { createRng, tokenize } from '@agentgym/scenario'
import { expect, test } from 'vitest'
import { apiIntegration } from './api-integration.ts'
import { billingInquiry } from './billing-inquiry.ts'
import { dataMigration } from './data-migration.ts'
import { passwordReset } from './password-reset.ts'
import { refundRequest } from './refund-request.ts'
import { smallTalk } from './small-talk.ts'
import { kinds, type Ticket, writeTicket } from './write-ticket.ts'

const TRAIN = 2000
const HELD = 250
const VOCABULARY = 4096
const MAX_TOKENS = 48

const train = Array.from({ length: TRAIN }, (_, index) => writeTicket('train', index))
const held = Array.from({ length: HELD }, (_, index) => writeTicket('eval', index))
const words = (text: string) => text.toLowerCase().match(/[a-z0-9]+/g) ?? []

test('hundreds of wordings, hardly any twice, the same every time', () => {
  expect(new Set(train.map(({ text }) => text)).size).toBeGreaterThan(0.98 * TRAIN)
  expect(new Set(held.map(({ text }) => text)).size).toBe(HELD)
  expect(writeTicket('eval', 17)).toEqual(held[17])
})

test('held-out tickets come in millions: among those drawn, pairs are as rare as in a set of that size', () => {
  const rng = createRng(5)
  const drawn = 6000
  const texts = Array.from({ length: drawn }, () => writeTicket('eval', rng.int(1_000_000_000)))
    .map(({ text, customer }) => `${text} ${customer.email} ${customer.lastPayment.invoice}`)
    .sort()
  const pairs = texts.filter((text, i) => text === texts[i - 1]).length
  // Of n draws from N, n²/2N pairs are alike: 18 for a million.
  expect(pairs).toBeLessThan(drawn ** 2 / 2 / 1_000_000)
})

test('kinds take turns', () => {
  for (const tickets of [train, held]) {
    for (const [index, ticket] of tickets.entries()) expect(ticket.kind).toBe(kinds[index % kinds.length])
  }
})

test('no sentence of the held-out tickets is one of training', () => {
  for (const phrases of [passwordReset, billingInquiry, apiIntegration, refundRequest, dataMigration]) {
    for (const part of ['request', 'detail'] as const) {
      expect(phrases.held[part].filter((sentence) => phrases.train[part].includes(sentence))).toEqual([])
    }
  }
  for (const part of ['greeting', 'aside', 'closing'] as const) {
    const known: readonly string[] = smallTalk.train[part]
    expect(smallTalk.held[part].filter((sentence) => sentence !== '' && known.includes(sentence))).toEqual([])
  }
})

test('a ticket fits the observation, and every slot is filled', () => {
  for (const { text } of [...train, ...held]) {
    expect(words(text).length, text).toBeLessThanOrEqual(MAX_TOKENS)
    expect(words(text).length, text).toBeGreaterThan(4)
    expect(text).not.toMatch(/[{}]|undefined/)
  }
})

test('held-out tickets use words that training does not teach, though not many', () => {
  const taught = new Set(train.flatMap(({ text }) => words(text)))
  const used = held.flatMap(({ text }) => words(text))
  const unknown = used.filter((word) => !taught.has(word)).length / used.length
  expect(unknown).toBeGreaterThan(0.05)
  expect(unknown).toBeLessThan(0.2)
})

/** Naive Bayes over the same token ids that a policy sees: what counting words can learn from the training tickets. */
function fitNaiveBayes(tickets: Ticket[]): (text: string) => string {
  const ids = (text: string) => tokenize(text, { maxTokens: MAX_TOKENS, vocabulary: VOCABULARY }).filter((id) => id > 0)
  const counts = kinds.map(() => new Float64Array(VOCABULARY).fill(0.3))
  for (const { kind, text } of tickets) for (const id of ids(text)) counts[kinds.indexOf(kind)][id] += 1
  const logLikelihoods = counts.map((row) => {
    const total = row.reduce((sum, count) => sum + count, 0)
    return row.map((count) => Math.log(count / total))
  })
  return (text) => {
    const scores = logLikelihoods.map((row) => ids(text).reduce((sum, id) => sum + row[id], 0))
    return kinds[scores.indexOf(Math.max(...scores))]
  }
}

test('who has read the training tickets can tell the kind of the held-out ones', () => {
  const classify = fitNaiveBayes(train)
  const right = held.filter(({ text, kind }) => classify(text) === kind).length
  expect(right / HELD).toBeGreaterThanOrEqual(0.98)
})

test('the kind can be told from the words only: the customers are the same for all kinds', () => {
  const share = (fact: (ticket: Ticket) => boolean) =>
    kinds.map((kind) => {
      const ofKind = train.filter((ticket) => ticket.kind === kind)
      return ofKind.filter(fact).length / ofKind.length
    })
  for (const fact of [
    ({ customer }: Ticket) => customer.apiKey.state === 'expired',
    ({ customer }: Ticket) => customer.plan === 'Team',
    ({ customer }: Ticket) => customer.lastPayment.ageDays <= 30,
  ]) {
    const shares = share(fact)
    // 400 tickets a kind: two shares differ by 0.035 on average when they are drawn alike.
    expect(Math.max(...shares) - Math.min(...shares)).toBeLessThan(0.15)
  }
})
