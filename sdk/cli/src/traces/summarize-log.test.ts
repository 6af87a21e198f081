import { expect, it } from 'vitest'
import type { LoggedCall, LoggedEpisode } from './logged-episode.ts'
import { PersonalData, standInPattern } from './personal-data.ts'
import { LogCollector } from './summarize-log.ts'
import { successCriteria } from './write-trace-scenario.ts'

const call = (tool: string, more: Partial<LoggedCall> = {}): LoggedCall => ({
  ...{ tool, arguments: {}, result: `${tool} done`, failed: false, tokens: 100, seconds: 0.5, probability: null },
  ...more,
})
const episode = (request: string, calls: LoggedCall[], more: Partial<LoggedEpisode> = {}): LoggedEpisode => ({
  ...{
    id: request,
    request,
    calls,
    followUps: 0,
    answered: true,
    answerTokens: 60,
    answerSeconds: 1,
    answerProbability: null,
  },
  outcomes: {},
  ...more,
})

function collect(episodes: LoggedEpisode[]): LogCollector {
  const collector = new LogCollector(new PersonalData())
  for (const each of episodes) collector.add(each)
  return collector
}

it('what a request takes is the cheapest logged way, without failures and repetitions', () => {
  const { requests } = collect([
    episode('Where is it?', [call('search'), call('search'), call('refund')]),
    episode('where is it?', [call('search', { failed: true }), call('search')]),
    episode('Thanks', []),
  ]).summary(null, 0.5)
  expect(requests).toMatchObject([{ request: 'where is it?', needs: [{ tool: 'search', result: 'search done' }] }])
})

it('of a log with outcomes, only what was solved is a request, and all of it is the policy to beat', () => {
  const collector = collect([
    episode('a', [call('search')], { outcomes: { solved: 1, stars: 5 } }),
    episode('b', [call('search'), call('refund')], { outcomes: { solved: 0, stars: 4 } }),
  ])
  expect(collector.outcomeName(undefined)).toBe('solved')
  expect(collector.outcomeName('stars')).toBe('stars')
  expect(collector.outcomeName('none')).toBeNull()
  expect(collect([episode('a', [], { outcomes: { rating: 1 } })]).outcomeName(undefined)).toBeNull()
  const { requests, logged } = collector.summary('solved', 0.5)
  expect(requests.map(({ request }) => request)).toEqual(['a'])
  expect(logged).toEqual({ episodes: 2, solved: 0.5, calls: 1.5, tokens: 210, seconds: 1.75 })
  expect(collector.summary('stars', 4).logged.solved).toBe(1)
})

it('arguments of few values are choices, others are not', () => {
  const refund = (i: number) =>
    call('refund', {
      arguments: { reason: i % 2 === 0 ? 'late' : 'broken', note: `text ${i}`, urgent: true, 'a b': i % 2 },
    })
  const { tools } = collect(Array.from({ length: 40 }, (_, i) => episode(`r${i}`, [refund(i)]))).summary(null, 0.5)
  expect(tools).toMatchObject([{ name: 'refund', calls: 40, failures: 0, choices: { reason: ['broken', 'late'] } }])
  expect(Object.keys(tools[0].choices)).toEqual(['reason'])
  expect(tools[0].results).toEqual([
    { arguments: { reason: 'late' }, result: 'refund done', count: 20 },
    { arguments: { reason: 'broken' }, result: 'refund done', count: 20 },
  ])
})

it('tokens that the log does not count are estimated, and said to be', () => {
  const collector = collect([episode('a request of text', [call('search', { tokens: null })], { answerTokens: null })])
  expect(collector.estimatedTokens).toBe(1)
  expect(collector.summary(null, 0.5).logged.tokens).toBeGreaterThan(0)
})

it('tools have names that a scenario can have, also beside the answer', () => {
  const collector = collect([episode('a', [call('answer'), call('Search orders!'), call('__proto__'), call('tool')])])
  const { tools, answer } = collector.summary(null, 0.5)
  expect(tools.map(({ name }) => name)).toEqual(['answer', 'Search_orders_', 'proto__', 'tool_'])
  expect(answer.name).toBe('answer_2')
})

it('one wording is in one split, whatever was masked in it', () => {
  const wordings = Array.from(
    { length: 200 },
    (_, i) => `case ${String.fromCharCode(97 + (i % 26), 97 + Math.floor(i / 26))}`,
  )
  const make = () =>
    collect(wordings.map((wording, i) => episode(`${wording}, I am c${i}@example.com`, [call('search')]))).summary(
      null,
      0.5,
    )
  const [one, other] = [make(), make()]
  const shape = ({ requests }: typeof one) =>
    requests.map(({ request, heldOut }) => [request.replace(standInPattern, '<$1>'), heldOut])
  expect(shape(one)).toEqual(shape(other))
  const share = one.requests.filter(({ heldOut }) => heldOut).length / 200
  expect(share).toBeGreaterThan(0.1)
  expect(share).toBeLessThan(0.3)
  expect(JSON.stringify(one)).not.toContain('@')
})

it('an agent has to solve as much as the logged one, and at no more cost where there is a cheaper way', () => {
  const detours = Array.from({ length: 40 }, (_, i) =>
    episode(
      `case ${i % 20}`,
      Array.from({ length: 1 + Math.floor(i / 20) * 3 }, () => call('search')),
      {
        outcomes: { solved: Number(i % 20 !== 0) },
      },
    ),
  )
  const summary = collect(detours).summary('solved', 0.5)
  // 19 of 20 are solved; 2.5 calls each, where one would do.
  expect(summary.logged).toMatchObject({ solved: 0.95, calls: 2.5, tokens: 310 })
  expect(successCriteria(summary)).toEqual({ solved: 0.95, cost_reduction: 0 })
  const direct = collect(detours.slice(0, 20)).summary('solved', 0.5)
  expect(successCriteria(direct)).toEqual({ solved: 0.95 })
  expect(successCriteria({ ...direct, logged: { ...direct.logged, solved: null } })).toEqual({ solved: 0.9 })
})
