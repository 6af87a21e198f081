import { AgentGymError } from '@agentgym/contract'
import { getCookie, setCookie } from 'hono/cookie'
import { z } from 'zod'
import { EpisodeSession, type StepInput, type Turn } from '../episode-session.ts'
import { readArguments } from '../openenv/wire-forms.ts'
import type { ProtocolContext } from '../protocol.ts'
import { readRequest } from '../read-request.ts'
import { splitNames } from '../task-splits.ts'
import { turnText } from '../turn-text.ts'

/** Rows of a data set travel along; of ours, `split`, `index` and `seed` are read. */
const resetSchema = z.looseObject({
  split: z.enum(splitNames).nullish(),
  index: z.int().nonnegative().nullish(),
  seed: z.int().nonnegative().nullish(),
})

/** Of the Responses API's object, what the model has said and called. */
const stepSchema = z.looseObject({
  response: z.looseObject({
    output: z.array(
      z.union([
        z.looseObject({
          type: z.literal('function_call'),
          call_id: z.string(),
          name: z.string(),
          arguments: z.string().nullish(),
        }),
        z.looseObject({
          type: z.literal('message'),
          content: z.array(z.looseObject({ type: z.string(), text: z.string().optional() })),
        }),
        z.looseObject({ type: z.string() }),
      ]),
    ),
  }),
})

const COOKIE = 'agentgym_session'

/**
 * The Gymnasium protocol of NeMo Gym's resource servers, below `/nemo`: `reset` and `step`, each client with a session of its own
 * by a cookie. Rewards are each step's own, which its trainers add up.
 */
export function mountNemo({ app, environment, sessions }: ProtocolContext): void {
  const open = new Map<string, { session: EpisodeSession; turn: Turn | null }>()

  app.post('/nemo/reset', async (c) => {
    const { split, index, seed } = await readRequest(c, resetSchema)
    const known = open.get(getCookie(c, COOKIE) ?? '')
    const session = known?.session ?? (await EpisodeSession.open(sessions, environment))
    if (known === undefined) session.onEnd(() => open.delete(session.id))
    const turn = await session.reset({ split: split ?? undefined, index: index ?? undefined, seed: seed ?? undefined })
    open.set(session.id, { session, turn })
    setCookie(c, COOKIE, session.id, { httpOnly: true, sameSite: 'Lax', path: '/' })
    const tools = environment.form.tools.map(({ name, description, inputSchema }) => ({
      type: 'function',
      ...{ name, description, parameters: inputSchema },
    }))
    return c.json({ observation: `${environment.form.task}\n${turnText(turn)}`, info: { tools } })
  })

  app.post('/nemo/step', async (c) => {
    const { response } = await readRequest(c, stepSchema)
    const known = open.get(getCookie(c, COOKIE) ?? '')
    if (known === undefined) {
      throw new AgentGymError({
        code: 'session_not_found',
        message: 'The request has no session, or one that has ended.',
        hint: 'Reset first, and send the cookie of its answer.',
      })
    }
    setCookie(c, COOKIE, known.session.id, { httpOnly: true, sameSite: 'Lax', path: '/' })
    return c.json(await play(known, response.output))
  })
}

type Playing = { session: EpisodeSession; turn: Turn | null }
type Output = z.infer<typeof stepSchema>['response']['output']
type Move = { call: string | null; input: () => StepInput }

/** Plays every call of a response, or its text where it calls nothing; what comes after the end is not played. */
async function play(playing: Playing, output: Output) {
  const outputs: { call_id: string; output: string }[] = []
  let reward = 0
  let said: string | null = null
  for (const { call, input } of movesOf(output)) {
    let text = 'The episode has ended.'
    if (playing.turn?.done !== true) {
      try {
        playing.turn = await playing.session.step(input())
        reward += playing.turn.reward ?? 0
        text = turnText(playing.turn)
      } catch (error) {
        if (!(error instanceof AgentGymError) || error.code !== 'action_invalid') throw error
        text = [error.message, error.hint].filter(Boolean).join(' ')
      }
    }
    if (call === null) said = text
    else outputs.push({ call_id: call, output: text })
  }
  const { done = false, truncated = false } = playing.turn ?? {}
  return {
    observation: said,
    reward,
    terminated: done && !truncated,
    truncated,
    info: { tool_outputs: outputs, ...(done ? { metrics: playing.turn?.metrics } : {}) },
  }
}

function movesOf(output: Output): Move[] {
  const calls: Move[] = []
  const texts: string[] = []
  for (const item of output) {
    if (item.type === 'function_call' && 'call_id' in item) {
      const { call_id, name, arguments: given } = item as { call_id: string; name: string; arguments?: string | null }
      calls.push({ call: call_id, input: () => ({ tool: name, arguments: readArguments(given) }) })
    } else if (item.type === 'message' && 'content' in item) {
      texts.push(...(item.content as { text?: string }[]).map(({ text = '' }) => text))
    }
  }
  return calls.length > 0 ? calls : [{ call: null, input: () => ({ reply: texts.join('') }) }]
}
