// @module-tag full
// One episode scores the same through every protocol, each of which says it in its own way.
import { join } from 'node:path'
import { type LanguageModelServer, startLanguageModel } from '@agentgym/testkit/language-model'
import type { Hono } from 'hono'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { envServer } from '../../src/env-server/env-server.ts'
import { EpisodeSession, type Turn } from '../../src/env-server/episode-session.ts'
import { openEnvironment, type ServedEnvironment } from '../../src/env-server/served-environment.ts'
import type { Sessions } from '../../src/env-server/sessions.ts'
import { loadScenario } from '../../src/sandbox/build-scenario.ts'

const plugins = join(import.meta.dirname, '../../../plugins')
const names = ['returns-desk', 'customer-support', 'grid-maze', 'text-craft', 'baby-grid']
const index = 3

let environments: ServedEnvironment[]
let app: Hono
let sessions: Sessions
let models: LanguageModelServer
/** What the scripted model still has to say, by the environment that it plays. */
const script = new Map<string, string[]>()

beforeAll(async () => {
  environments = await Promise.all(names.map(async (name) => openEnvironment(await loadScenario(join(plugins, name)))))
  models = await startLanguageModel(({ body }) => ({ text: script.get(body.model)?.shift() ?? '' }))
  ;({ app, sessions } = envServer(environments, { most: 100, idleMs: 600_000, allowedModels: [models.url] }))
}, 120_000)
afterAll(async () => {
  await models.close()
  sessions.close()
  await Promise.all(environments.map(({ host }) => host.close()))
})

type Conversation = { end: string; messages: { content: string }[] }
type Episode = { actions: string[]; rewards: number[]; total: number; first: string }

describe.each(names)('%s', { timeout: 120_000 }, (name) => {
  let episode: Episode
  beforeAll(async () => {
    episode = await reference(environments[names.indexOf(name)])
  })

  it('is an episode with a reward and an end', () => {
    expect(episode.actions.length).toBeGreaterThan(1)
    expect(episode.rewards.some((reward) => reward !== 0)).toBe(true)
  })

  it('TextCraft of AgentGym: the last reward is the return, with words that its client has stripped', async () => {
    const path = `/envs/${name}/textcraft`
    const { id } = await post<{ id: number }>(`${path}/create`, { minecraft_dir: '.', commands: null, goal: null })
    const { observation } = await post<{ observation: string }>(`${path}/reset`, { id, data_idx: index })
    expect(observation).toContain(episode.first)
    let last = { reward: 0, done: false }
    for (const action of episode.actions) {
      const stripped = action.replace(/[^A-Za-z0-9, ]+/g, '')
      last = await post(`${path}/step`, { id, action: stripped.split(' ').filter(Boolean).join(' ') })
    }
    expect(last).toMatchObject({ reward: expect.closeTo(episode.total, 6), done: true })
    // Steps after the end change nothing.
    expect(await post(`${path}/step`, { id, action: 'anything' })).toEqual(last)
    expect(await post(`${path}/close`, { id })).toEqual({ closed: true })
  })

  it('BabyAI of AgentGym: the last score is the return, and rewards are the steps’', async () => {
    const path = `/envs/${name}/babyai`
    const { id } = await post<{ id: number }>(`${path}/create`, undefined)
    expect(await post(`${path}/reset`, { id, data_idx: index })).toMatchObject({ score: 0, reward: 0, done: false })
    const rewards: number[] = []
    let last = { reward: 0, score: 0, done: false }
    for (const action of episode.actions) {
      last = await post(`${path}/step`, { id, action })
      rewards.push(last.reward)
    }
    expect(rewards).toEqual(episode.rewards)
    expect(last).toMatchObject({ score: expect.closeTo(episode.total, 6), done: true })
  })

  it('WebShop of AgentGym: the last reward is the return', async () => {
    const path = `/envs/${name}/webshop`
    const env_idx = await post<number>(`${path}/create`, undefined)
    expect(env_idx).toBeTypeOf('number')
    expect((await post<string[]>(`${path}/reset`, { env_idx, session_id: index }))[0]).toContain(episode.first)
    expect(await (await app.request(`${path}/observation?env_idx=${env_idx}`, local)).json()).toContain(episode.first)
    let last = { reward: 0, done: false }
    for (const action of episode.actions) last = await post(`${path}/step`, { env_idx, action: `click[${action}]` })
    expect(last).toMatchObject({ reward: expect.closeTo(episode.total, 6), done: true })
  })

  it('NeMo Gym: rewards of the steps add up, and the end says which it is', async () => {
    const path = `/envs/${name}/nemo`
    const row = { responses_create_params: { input: [] }, split: 'train', index }
    const reset = await app.request(`${path}/reset`, request(row))
    const cookie = reset.headers.get('set-cookie')?.split(';')[0] ?? ''
    expect(((await reset.json()) as { observation: string }).observation).toContain(episode.first)
    let sum = 0
    let last = { terminated: false, truncated: false }
    for (const text of episode.actions) {
      const output = [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] }]
      const answer = await app.request(`${path}/step`, request({ ...row, response: { output } }, { cookie }))
      const step = (await answer.json()) as { reward: number; terminated: boolean; truncated: boolean }
      sum += step.reward
      last = step
    }
    expect(sum).toBeCloseTo(episode.total, 6)
    expect(last.terminated || last.truncated).toBe(true)
  })

  it('rollouts: the reward of the conversation is the return', async () => {
    script.set(name, [...episode.actions])
    const body = { env: name, model: name, base_url: models.url, ids: [`${name}_${index}`], max_round: 500 }
    const { rollouts } = await post<{ rollouts: Conversation[] }>('/rollouts', body)
    expect(rollouts).toHaveLength(1)
    expect(rollouts[0]).toMatchObject({ reward: expect.closeTo(episode.total, 6), rounds: episode.actions.length })
    expect(['terminated', 'truncated']).toContain(rollouts[0].end)
    expect(rollouts[0].messages[1].content).toContain(episode.first)
  })

  it('OpenEnv: rewards of the steps add up', async () => {
    const path = `/envs/${name}`
    const episode_id = `the ${name} of this test`
    const tool = environments[names.indexOf(name)].form.form === 'tools'
    const reset = await post<{ observation: { text: string } }>(`${path}/reset`, { split: 'train', index, episode_id })
    expect(reset.observation.text).toBe(episode.first)
    let [sum, done] = [0, false]
    for (const said of episode.actions) {
      const action = tool ? asCall(said, environments[names.indexOf(name)]) : { action: said }
      const step = await post<{ reward: number; done: boolean }>(`${path}/step`, { action, episode_id })
      sum += step.reward
      done = step.done
    }
    expect([sum, done]).toEqual([expect.closeTo(episode.total, 6), true])
  })
})

/** `refund A-1, 0` as a call of MCP. */
function asCall(said: string, { form }: ServedEnvironment) {
  const [tool_name, ...rest] = said.split(' ')
  const { properties = {} } = form.tools.find(({ name }) => name === tool_name)?.inputSchema ?? {}
  const values = rest.join(' ').split(', ').filter(Boolean)
  const given = Object.entries(properties as Record<string, { type?: string }>).map(([name, { type }], i) => [
    name,
    type === 'string' ? values[i] : Number(values[i]),
  ])
  return { tool_name, arguments: Object.fromEntries(given) }
}

/** Plays some legal action after another, until the episode ends. */
async function reference(environment: ServedEnvironment): Promise<Episode> {
  const session = await EpisodeSession.open(sessions, environment)
  let turn = await session.reset({ split: 'train', index })
  const episode: Episode = { actions: [], rewards: [], total: 0, first: turn.text }
  while (!turn.done) {
    const action = someAction(turn, episode.actions.length)
    turn = await session.step({ reply: action })
    episode.actions.push(action)
    episode.rewards.push(turn.reward ?? 0)
  }
  episode.total = session.state.return
  await session.end()
  return episode
}

/** Of `refund(order: A-1 | A-2, percent: 0 to 100)` it is `refund A-1, 0`. */
function someAction({ legalActions }: Turn, step: number): string {
  const words = legalActions ?? []
  const chosen = words[(7 * step + 3) % words.length]
  const [, name, parameters] = /^([^(]*)(?:\((.*)\))?$/.exec(chosen) ?? []
  if (!parameters) return name
  const values = parameters.split(/, (?=[a-z_]+: )/).map((each) => each.replace(/^[^:]*: /, '').split(/ \| | to /)[0])
  return `${name} ${values.join(', ')}`
}

const local = { headers: { host: 'localhost' } }

function request(body: unknown, headers: Record<string, string> = {}): RequestInit {
  return {
    method: 'POST',
    headers: { host: 'localhost', 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  }
}

async function post<Answer>(path: string, body: unknown): Promise<Answer> {
  const response = await app.request(path, request(body))
  const answer = await response.json()
  if (response.status !== 200) throw new Error(`${path} answers ${response.status}: ${JSON.stringify(answer)}`)
  return answer as Answer
}
