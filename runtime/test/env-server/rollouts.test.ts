import { join } from 'node:path'
import {
  type Asked,
  type LanguageModelServer,
  type Script,
  scriptedTokens,
  startLanguageModel,
} from '@agentgym/testkit/language-model'
import type { Hono } from 'hono'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { envServer } from '../../src/env-server/env-server.ts'
import { openEnvironment, type ServedEnvironment } from '../../src/env-server/served-environment.ts'
import type { Sessions } from '../../src/env-server/sessions.ts'
import { loadScenario } from '../../src/sandbox/build-scenario.ts'

const plugins = join(import.meta.dirname, '../../../plugins')
let environments: ServedEnvironment[]
let app: Hono
let sessions: Sessions
let llm: LanguageModelServer
let reply: (asked: Asked) => Script = () => ({ text: '' })

beforeAll(async () => {
  const names = ['customer-support', 'grid-maze']
  environments = await Promise.all(names.map(async (name) => openEnvironment(await loadScenario(join(plugins, name)))))
  llm = await startLanguageModel((asked) => reply(asked))
  ;({ app, sessions } = envServer(environments, { most: 8, idleMs: 600_000, allowedModels: [llm.url] }))
}, 120_000)
afterEach(() => {
  llm.asked.length = 0
  // Whatever happened, nothing is held.
  expect(sessions.active).toBe(0)
})
afterAll(async () => {
  await llm.close()
  sessions.close()
  await Promise.all(environments.map(({ host }) => host.close()))
})

it('tools are called as the model calls them, several at once, and the conversation can be sent on', async () => {
  reply = ({ body: { messages = [], tools = [] } }) => {
    const legal = /Legal actions: (.*)/.exec(String(messages.at(-1)?.content))?.[1].split('; ') ?? []
    const names = tools.map((tool) => tool.function?.name ?? '').filter((name) => legal.includes(name))
    return { calls: names.slice(0, messages.length === 2 ? 2 : 1).map((name) => ({ name, arguments: {} })) }
  }
  const [rollout] = await roll({ ids: [0], tools: true, max_round: 2, api_key: 'theirs', temperature: 0 })
  expect(rollout.messages.map(({ role }) => role)).toEqual([
    ...['system', 'user', 'assistant', 'tool', 'tool', 'assistant', 'tool'],
  ])
  const [, , said, first, second] = rollout.messages
  expect([first.tool_call_id, second.tool_call_id]).toEqual(said.tool_calls?.map(({ id }) => id))
  expect(rollout).toMatchObject({
    end: 'max_round',
    rounds: 2,
    steps: 3,
    usage: { prompt_tokens: 2 * scriptedTokens.input },
  })
  expect(llm.asked.map(({ key }) => key)).toEqual(['theirs', 'theirs'])
  expect(llm.asked[1].body.messages).toEqual(rollout.messages.slice(0, 5))
})

it('a model whose words are no action reads why, uses up its rounds, and has played nothing', async () => {
  reply = () => ({ text: 'I would rather talk.' })
  const [rollout] = await roll({ env: 'grid-maze', ids: ['grid-maze_4'], max_round: 3 })
  expect(rollout).toMatchObject({ id: 'grid-maze_4', steps: 0, rounds: 3, end: 'max_round', reward: 0 })
  expect(rollout.messages[3].content).toContain('I would rather talk')
})

it('failed rollouts are errors, never zero, and the others have their score', async () => {
  let asked = 0
  reply = ({ body: { messages = [] } }) => {
    if (messages.length > 2) return { text: 'up' }
    asked += 1
    return asked === 1 ? { status: 401 } : { text: 'up' }
  }
  const rollouts = await roll({ env: 'grid-maze', ids: [0, 1, 2], parallel: 1, max_round: 4 })
  expect(rollouts[0].error).toMatchObject({
    code: 'language_model_failed',
    message: expect.stringContaining('401'),
  })
  expect('reward' in rollouts[0]).toBe(false)
  for (const rollout of rollouts.slice(1))
    expect(rollout).toMatchObject({ end: 'max_round', reward: expect.any(Number) })
})

it('a busy model is asked again', async () => {
  let asked = 0
  reply = () => {
    asked += 1
    return asked === 1 ? { status: 429, headers: { 'retry-after': '0' } } : { text: 'up' }
  }
  expect(await roll({ env: 'grid-maze', ids: [0], max_round: 1 })).toMatchObject([{ rounds: 1, end: 'max_round' }])
  expect(asked).toBe(2)
})

it('a model is asked again for as long as its server says when', async () => {
  let asked = 0
  reply = () => {
    asked += 1
    return asked <= 5 ? { status: 429, headers: { 'retry-after': '0.01' } } : { text: 'up' }
  }
  expect(await roll({ env: 'grid-maze', ids: [0], max_round: 1 })).toMatchObject([{ rounds: 1, end: 'max_round' }])
  expect(asked).toBe(6)
})

it('streams a line for each conversation as it ends', async () => {
  reply = () => ({ text: 'up' })
  const body = { env: 'grid-maze', model: 'm', base_url: llm.url, ids: [0, 1, 2], max_round: 1, stream: true }
  const response = await app.request('/rollouts', request(body))
  expect(response.headers.get('content-type')).toBe('application/x-ndjson')
  const lines = (await response.text())
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(lines.map(({ id, env }) => [id, env]).sort()).toEqual([0, 1, 2].map((id) => [id, 'grid-maze']))
})

it('more conversations than the server has environments are errors of those that found none', async () => {
  reply = () => ({ text: 'up' })
  const rollouts = await roll({ env: 'grid-maze', ids: [...Array(12).keys()], parallel: 12, max_round: 1 })
  const codes = rollouts.map(({ error }) => error?.code)
  expect(codes.filter((code) => code === undefined).length).toBeGreaterThanOrEqual(8)
  expect(new Set(codes).difference(new Set([undefined, 'capacity_reached'])).size).toBe(0)
})

it.each([
  [{ base_url: 'http://169.254.169.254/latest' }, 'address_refused', 'base_url'],
  [{ base_url: 'https://localhost/v1' }, 'address_refused', 'localhost'],
  [{ env: 'unknown' }, 'request_invalid', 'customer-support, grid-maze'],
  [{ ids: ['grid-maze_99999999'] }, 'request_invalid', 'numbered from 0'],
  [{ ids: [] }, 'request_invalid', 'ids'],
  [{ max_round: 0 }, 'request_invalid', 'max_round'],
])('%j is refused', async (given, code, words) => {
  const body = { env: 'grid-maze', model: 'm', base_url: llm.url, ids: [0], ...given }
  const response = await app.request('/rollouts', request(body))
  const text = await response.text()
  // A name is looked at when it is resolved, so it is the rollout's error.
  expect(text).toContain(code)
  expect(text).toContain(words)
  expect(llm.asked).toEqual([])
})

type Conversation = {
  messages: { role: string; content: string; tool_call_id?: string; tool_calls?: { id: string }[] }[]
  error?: { code: string; message: string }
}

async function roll(given: object): Promise<Conversation[]> {
  const response = await app.request('/rollouts', request({ model: 'm', base_url: llm.url, ...given }))
  const answer = (await response.json()) as { rollouts: Conversation[] }
  if (response.status !== 200) throw new Error(JSON.stringify(answer))
  return answer.rollouts
}

function request(body: unknown): RequestInit {
  return {
    method: 'POST',
    headers: { host: 'localhost', 'content-type': 'application/json' },
    body: JSON.stringify(body),
  }
}
