import { randomUUID } from 'node:crypto'
import type { HostedAction } from '@agentgym/contract'
import { postgresql } from '@agentgym/testkit/databases'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Database } from '../../core/database/database.ts'
import { meteredAgent } from '../metering/testing/metered-agents.ts'
import { createTrader, type Listed } from '../orders/testing/marketplace.ts'
import { acted, type HostingServer, startHosting } from './testing/hosting-server.ts'

const times = { waitMs: 30_000, leaseMs: 20_000, pollMs: 50 }
const text = { type: 'text', maxTokens: 8, vocabulary: 256 }
const three = { type: 'discrete', n: 3, start: 0, labels: ['refund', 'close', 'wait'] }
const tools = {
  type: 'dict',
  choice: 'tool',
  entries: [
    { name: 'tool', space: { type: 'discrete', n: 2, start: 0, labels: ['search', 'close'] } },
    {
      name: 'search',
      space: { type: 'dict', entries: [{ name: 'limit', space: { type: 'discrete', n: 2, start: 1 } }] },
    },
  ],
}

type Answer = { type: string; name: string | null; choice?: string; confidence?: number; probabilities?: unknown }

describe('decisions of hosted agents', () => {
  let database: Database
  let server: HostingServer
  let working: ReturnType<HostingServer['work']>
  let token: string
  let agent: Listed
  let acts: Partial<HostedAction> = {}
  const seen: { observation: unknown; action_mask: unknown }[] = []

  beforeAll(async () => {
    database = await postgresql.open()
    server = await startHosting(database, times)
    token = await server.callerToken(await createTrader(database))
    working = server.work(({ id, observation, action_mask }) => {
      seen.push({ observation, action_mask })
      return { ...acted({ id }), ...chosenBy(action_mask), ...acts }
    })
  })
  afterAll(async () => {
    await working.stop()
    await server.close()
    await database.close()
  })

  /** Uses an agent with these spaces in the following calls. */
  const use = async (action: object, manifest: object = {}, of: Parameters<typeof meteredAgent>[1] = {}) => {
    agent = await meteredAgent(database, of)
    acts = {}
    seen.length = 0
    const whole = { scenario: { observation: text, action }, policy: {}, ...manifest }
    const row = { version_id: agent.versions['1.0.0'], manifest: JSON.stringify(whole) }
    await database.query.insertInto('agent_versions').values(row).execute()
  }
  const post = async (path: string, body: object, headers: Record<string, string> = {}) => {
    const response = await fetch(server.url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ model: agent.name, ...body }),
    })
    return { status: response.status, body: JSON.parse(await response.text()) }
  }
  const question = (name: string, ...values: unknown[]) => ({
    ...{ type: 'choice', name, instructions: 'Which?', choices: values.map((value) => ({ value })) },
  })
  const decide = (...questions: object[]) => post('/v1/decisions', { input: 'I was charged twice', questions })
  const answersTo = async (...questions: object[]): Promise<Answer[]> => (await decide(...questions)).body.answers
  const usage = async () =>
    (await database.query.selectFrom('usage_events').select('id').where('package_id', '=', agent.id).execute()).length

  it('choose among the choices of each question, which are what is legal', async () => {
    await use(three)
    const { status, body } = await decide(
      question('all', 'refund', 'close', 'wait'),
      question('some', 'wait', 'refund'),
    )
    expect(status).toBe(200)
    expect(body).toMatchObject({
      model: `${agent.name}@1.0.0`,
      answers: [
        { type: 'choice', name: 'all', choice: 'close', confidence: 0.5 },
        { type: 'choice', name: 'some', choice: 'refund', confidence: 0.5 },
      ],
      usage: { input_tokens: 5, output_tokens: 0, total_tokens: 5 },
    })
    expect(body.answers[1].probabilities).toEqual([
      { value: 'wait', probability: 0.5 },
      { value: 'refund', probability: 0.5 },
    ])
    expect(seen.toSorted((a, b) => String(a.action_mask).localeCompare(String(b.action_mask)))).toEqual([
      { observation: 'I was charged twice', action_mask: [true, false, true] },
      { observation: 'I was charged twice', action_mask: [true, true, true] },
    ])
  })

  it('refuse what the agent does not know, without a call', async () => {
    await use(three)
    const refused = await answersTo(
      question('unknown', 'refund', 'order_pizza'),
      question('flags', true, false),
      { type: 'predicate', name: 'sure', instructions: 'Is it?' },
      { type: 'score', name: 'mood', instructions: 'How?' },
    )
    expect(refused).toEqual(['unknown', 'flags', 'sure', 'mood'].map((name) => ({ type: 'refusal', name })))
    expect(seen).toEqual([])
    expect(await usage()).toBe(0)
    // An agent of an older server has no manifest, so nothing is known of its choices.
    agent = await meteredAgent(database, {})
    expect(await answersTo(question('old', 'refund', 'close'))).toEqual([{ type: 'refusal', name: 'old' }])
  })

  it('are counted once for each set of choices, and once for a key', async () => {
    await use(three)
    const questions = [
      question('a', 'refund', 'close'),
      question('again', 'close', 'refund'),
      question('b', 'close', 'wait'),
    ]
    const headers = { 'idempotency-key': randomUUID() }
    const first = await post('/v1/decisions', { input: 'hello', questions }, headers)
    expect([first.status, await usage()]).toEqual([200, 2])
    expect(await post('/v1/decisions', { input: 'hello', questions }, headers)).toEqual(first)
    expect(await usage()).toBe(2)
    const other = await post('/v1/decisions', { input: 'goodbye', questions }, headers)
    expect([other.status, other.body.error.code]).toEqual([409, 'idempotency_key_reused'])
  })

  it('are choices of tools with arguments, and calibrated if the agent is', async () => {
    await use(tools, { confidence: { slope: 1, intercept: 1 } })
    acts = {
      ...{ action: { tool: 0, search: { limit: 1 } }, label: 'search', probabilities: null },
      tool_probabilities: [0.75, 0.25],
    }
    const [answer] = await answersTo(question('tool', 'search', 'close'))
    expect(answer).toMatchObject({
      choice: 'search',
      confidence: expect.closeTo(1 / (1 + Math.exp(-Math.log(3) - 1)), 6),
    })
    expect(answer.probabilities).toEqual([
      { value: 'search', probability: 0.75 },
      { value: 'close', probability: 0.25 },
    ])
  })

  it('are the same in the form of System One', async () => {
    await use(three)
    const criteria = { refund: null, close: 'end it', wait: null }
    const questions = { next: { type: 'choice', criteria }, worth: { type: 'score' } }
    const { status, body } = await post('/v1/systemone', { state: 'I was charged twice', questions })
    expect(status).toBe(200)
    expect(body.answers).toEqual({
      next: {
        type: 'choice',
        choice: 'close',
        confidence: 0.5,
        probabilities: { refund: 0.25, close: 0.5, wait: 0.25 },
      },
      worth: { type: 'refusal' },
    })
    const deep = JSON.parse('['.repeat(90) + ']'.repeat(90))
    expect((await post('/v1/systemone', { state: deep, questions })).body.error.param).toBe('state')
  })

  it('need what every call needs', async () => {
    await use(three, {}, { licenseMinor: 500 })
    const ask = async (body: object, headers?: Record<string, string>) => {
      const questions = [question('next', 'refund', 'close')]
      const { status, body: answer } = await post('/v1/decisions', { input: 'x', questions, ...body }, headers)
      return [status, answer.error?.code]
    }
    expect(await ask({})).toEqual([402, 'payment_required'])
    expect(await ask({}, { authorization: 'Bearer none' })).toEqual([401, 'unauthenticated'])
    expect(await ask({ model: '@nobody/nothing' })).toEqual([404, 'package_not_found'])
    expect(await ask({ model: 'gpt-5' })).toEqual([422, 'request_invalid'])
    expect(await ask({ questions: [] })).toEqual([422, 'request_invalid'])
    const words = Array.from({ length: 20 }, (_, i) => `w${i}`)
    await use({ type: 'discrete', n: 20, start: 0, labels: words })
    const many = words.slice(1).map((word) => question(word, words[0], word))
    expect(await ask({ questions: many })).toEqual([422, 'request_invalid'])
    expect(seen).toEqual([])
  })
})

/** Of three words: `close` where it is legal, with twice the weight of the others. */
function chosenBy(mask: unknown): Partial<HostedAction> {
  if (!Array.isArray(mask)) return {}
  const words = ['refund', 'close', 'wait']
  const weights = words.map((word, i): number => (mask[i] ? (word === 'close' ? 2 : 1) : 0))
  const sum = weights.reduce((total, weight) => total + weight, 0)
  const action = weights.indexOf(Math.max(...weights))
  return { action, label: words[action], probabilities: weights.map((weight) => weight / sum) }
}
