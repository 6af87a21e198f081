import { type Context, Hono } from 'hono'
import { z } from 'zod'
import type { ProtocolContext } from '../protocol.ts'
import { invalidField, readRequest } from '../read-request.ts'
import { splitsOf } from '../task-splits.ts'
import { ClientEpisodes, type Seen } from './client-episodes.ts'

const id = z.int().nonnegative()
const resetSchema = z.looseObject({ id, data_idx: z.int().nonnegative().default(0) })
const stepSchema = z.looseObject({ id, action: z.string() })
const closeSchema = z.looseObject({ id })
/** The WebShop client calls the same things by other names. */
const shopResetSchema = z.looseObject({ env_idx: id, session_id: z.int().nonnegative().nullish() })
const shopStepSchema = z.looseObject({ env_idx: id, action: z.string() })
const shopCloseSchema = z.looseObject({ env_idx: id })

/**
 * The HTTP protocol of AgentGym and AgentGym-RL, whose clients know a closed list of environments: a scenario appears as one of
 * three. Paths: `/textcraft`, `/babyai` and `/webshop` for training tasks, with `-test` behind the name for held-out ones.
 *
 * Their trainers keep the last number of an episode as its score, so the reward of every step is the sum so far (`score` in
 * BabyAI's form, whose `reward` is the step's own).
 */
export function mountAgentGym({ app, environment, sessions }: ProtocolContext): void {
  for (const split of ['train', 'test'] as const) {
    if (!splitsOf(environment.description).includes(split)) continue
    const end = split === 'train' ? '' : '-test'
    for (const [name, mount] of Object.entries({
      textcraft: mountTextCraft,
      babyai: mountBabyAi,
      webshop: mountWebShop,
    })) {
      const routes = new Hono()
      routes.get('/', (c) => c.json('ok'))
      mount(routes, new ClientEpisodes(environment, sessions, split), environment.form.task)
      app.route(`/${name}${end}`, routes)
    }
  }
}

function mountTextCraft(routes: Hono, episodes: ClientEpisodes, task: string): void {
  const answer = ({ text, total, done }: Seen) => ({ observation: text, reward: total, done })
  // The client reads an observation before its first reset.
  routes.post('/create', (c) => c.json({ id: episodes.create(), observation: task }))
  routes.post('/reset', async (c) => {
    const { id, data_idx } = await readRequest(c, resetSchema)
    return c.json({ id, ...answer(await episodes.reset(id, data_idx)) })
  })
  mountSteps(routes, episodes, answer)
}

function mountBabyAi(routes: Hono, episodes: ClientEpisodes): void {
  const answer = ({ text, total, reward, done }: Seen) => ({ observation: text, reward, score: total, done })
  routes.post('/create', (c) => c.json({ id: episodes.create() }))
  routes.post('/reset', async (c) => {
    const { id, data_idx } = await readRequest(c, resetSchema)
    return c.json(answer(await episodes.reset(id, data_idx)))
  })
  mountSteps(routes, episodes, answer)
}

function mountSteps(routes: Hono, episodes: ClientEpisodes, answer: (seen: Seen) => object): void {
  routes.post('/step', async (c) => {
    const { id, action } = await readRequest(c, stepSchema)
    return c.json(answer(await episodes.step(id, action)))
  })
  routes.get('/observation', (c) => c.json(episodes.observe(numberIn(c, 'id')).text))
  routes.post('/close', async (c) => {
    await episodes.close((await readRequest(c, closeSchema)).id)
    return c.json({ closed: true })
  })
}

function mountWebShop(routes: Hono, episodes: ClientEpisodes): void {
  routes.post('/create', (c) => c.json(episodes.create()))
  routes.post('/reset', async (c) => {
    const { env_idx, session_id } = await readRequest(c, shopResetSchema)
    const { text } = await episodes.reset(env_idx, session_id ?? 0)
    return c.json([text, null])
  })
  routes.post('/step', async (c) => {
    const { env_idx, action } = await readRequest(c, shopStepSchema)
    const { text, total, done } = await episodes.step(env_idx, action)
    return c.json({ state: text, reward: total, done, info: null })
  })
  routes.get('/observation', (c) => c.json(episodes.observe(numberIn(c, 'env_idx')).text))
  routes.post('/close', async (c) => {
    await episodes.close((await readRequest(c, shopCloseSchema)).env_idx)
    return c.json({ closed: true })
  })
}

function numberIn(c: Context, field: string): number {
  const text = c.req.query(field) ?? ''
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw invalidField(field, 'it must be the number of an environment')
}
