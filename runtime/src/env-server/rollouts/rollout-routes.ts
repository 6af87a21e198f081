import type { Hono } from 'hono'
import { stream } from 'hono/streaming'
import { z } from 'zod'
import type { OutboundClient } from '../outbound/outbound-client.ts'
import { invalidField, readRequest } from '../read-request.ts'
import type { ServedEnvironment } from '../served-environment.ts'
import type { Sessions } from '../sessions.ts'
import { splitNames, tasksIn } from '../task-splits.ts'
import { playRollout, type Rollout, type RolloutPlan } from './play-rollout.ts'

/** Conversations of one request at once, and in all. */
const MOST_AT_ONCE = 16
const MOST_ROLLOUTS = 1_024

const requestSchema = z.strictObject({
  /** Absent: the first one. */
  env: z.string().optional(),
  model: z.string().min(1),
  base_url: z.string().min(1),
  /** Sent to `base_url`. */
  api_key: z.string().optional(),
  /** Tasks: numbers, or names that end in one, such as `textcraft_12`. */
  ids: z
    .array(z.union([z.int().nonnegative(), z.string().regex(/^(.*_)?\d{1,9}$/)]))
    .min(1)
    .max(MOST_ROLLOUTS),
  split: z.enum(splitNames).default('train'),
  max_round: z.int().min(1).max(1_000).default(30),
  tools: z.boolean().default(false),
  parallel: z.int().min(1).max(MOST_AT_ONCE).default(4),
  temperature: z.number().min(0).max(2).optional(),
  max_tokens: z.int().min(1).optional(),
  /** A line of JSON for each rollout, as it ends. */
  stream: z.boolean().default(false),
})
type RolloutRequest = z.infer<typeof requestSchema>

export type RolloutContext = {
  app: Hono
  environments: readonly ServedEnvironment[]
  sessions: Sessions
  client: OutboundClient
}

/** `POST /rollouts`: a language model plays, one conversation with its score for each task. */
export function mountRollouts({ app, environments, sessions, client }: RolloutContext): void {
  app.post('/rollouts', async (c) => {
    const request = await readRequest(c, requestSchema)
    const environment = findEnvironment(environments, request.env)
    const indices = request.ids.map((id) => indexOf(id, tasksIn(environment.description, request.split)))
    client.check(request.base_url)
    const { model, base_url, api_key, temperature, max_tokens, max_round: maxRounds, tools, split } = request
    const plan: RolloutPlan = {
      ...{ environment, sessions, client, maxRounds, tools, split, signal: c.req.raw.signal },
      llm: { model, base_url, api_key, temperature, max_tokens },
    }
    const about = { env: environment.name, model, split }
    if (!request.stream) {
      const rollouts: Rollout[] = []
      await playAll(request, indices, plan, (rollout, place) => {
        rollouts[place] = rollout
      })
      return c.json({ ...about, rollouts })
    }
    c.header('content-type', 'application/x-ndjson')
    return stream(c, async (lines) => {
      let written: Promise<unknown> = Promise.resolve()
      await playAll(request, indices, plan, (rollout) => {
        written = written.then(() => lines.write(`${JSON.stringify({ ...about, ...rollout })}\n`))
      })
      await written
    })
  })
}

/** Keeps `parallel` conversations going until all are played. */
async function playAll(
  { ids, parallel }: RolloutRequest,
  indices: readonly number[],
  plan: RolloutPlan,
  onEnd: (rollout: Rollout, place: number) => void,
): Promise<void> {
  const places = ids.keys()
  const playOn = async () => {
    for (const place of places) {
      if (plan.signal.aborted) return
      onEnd(await playRollout(ids[place], indices[place], plan), place)
    }
  }
  await Promise.all(Array.from({ length: parallel }, playOn))
}

function findEnvironment(environments: readonly ServedEnvironment[], name: string | undefined): ServedEnvironment {
  const found = name === undefined ? environments[0] : environments.find((each) => each.name === name)
  if (found !== undefined) return found
  throw invalidField('env', `there is none of this name; there are ${environments.map((each) => each.name).join(', ')}`)
}

function indexOf(id: string | number, tasks: number): number {
  const index = Number(/\d+$/.exec(String(id))?.[0])
  if (index < tasks) return index
  throw invalidField('ids', `${id} is no task: they are numbered from 0 to ${tasks - 1}`)
}
