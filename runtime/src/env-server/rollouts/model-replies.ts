import { setTimeout as delay } from 'node:timers/promises'
import { AgentGymError, parseJson } from '@agentgym/contract'
import { z } from 'zod'
import type { LanguageTool } from '../language/language-form.ts'
import type { OutboundClient } from '../outbound/outbound-client.ts'

/** A message of a conversation, as chat completions have it. Replies are kept as the model sent them. */
export type Message = { role: 'system' | 'user' | 'assistant' | 'tool'; [field: string]: unknown }

export type ToolCall = { id: string; name: string; arguments: string }

export type ModelReply = {
  /** To send back with the next request. */
  message: Message
  content: string
  calls: ToolCall[]
  usage: { prompt_tokens: number; completion_tokens: number }
}

/** A language model at an OpenAI-compatible address. */
export type LanguageModel = {
  model: string
  base_url: string
  /** Sent to `base_url` alone. */
  api_key?: string
  temperature?: number
  max_tokens?: number
}

const replySchema = z.looseObject({
  choices: z.tuple(
    [
      z.looseObject({
        message: z.looseObject({
          role: z.literal('assistant').optional(),
          content: z.string().nullish(),
          tool_calls: z
            .array(
              z.looseObject({
                id: z.string(),
                function: z.looseObject({ name: z.string(), arguments: z.string().nullish() }),
              }),
            )
            .nullish(),
        }),
      }),
    ],
    z.unknown(),
  ),
  usage: z.looseObject({ prompt_tokens: z.number().default(0), completion_tokens: z.number().default(0) }).nullish(),
})

/** Busy and failing servers are asked again. */
const TRIES = 3
const LONGEST_PAUSE_MS = 10_000
/** A server that says when to ask again waits for something, such as a trainer's gateway for new weights. */
const PATIENCE_MS = 600_000

/**
 * The model's next message. Rejects with `language_model_failed` where it refuses, or does not answer as chat completions do,
 * and what `OutboundClient.post` rejects with.
 */
export async function nextReply(
  client: OutboundClient,
  { base_url, api_key, ...settings }: LanguageModel,
  messages: readonly Message[],
  { tools, signal }: { tools: readonly LanguageTool[] | null; signal: AbortSignal },
): Promise<ModelReply> {
  const address = `${base_url.replace(/\/+$/, '')}/chat/completions`
  const functions = tools?.map(({ name, description, inputSchema }) => ({
    type: 'function',
    function: { name, description, parameters: inputSchema },
  }))
  const body = { ...settings, messages, ...(functions === undefined ? {} : { tools: functions }) }
  const latest = performance.now() + PATIENCE_MS
  let failures = 0
  for (;;) {
    const { status, text, retryAfter } = await client.post(address, body, { key: api_key, signal })
    if (status === 200) return readReply(text, address)
    const seconds = Number(retryAfter ?? Number.NaN)
    const isPaused = status === 429 && seconds > 0 && performance.now() < latest
    if (!isPaused) failures += 1
    const again = status === 429 || status >= 500
    if (!again || failures === TRIES) throw answered(address, `it answers ${status}`)
    const pauseMs = Number.isFinite(seconds) ? seconds * 1_000 : 500 * 2 ** failures
    await delay(Math.min(LONGEST_PAUSE_MS, Math.max(0, pauseMs)), undefined, { signal })
  }
}

function readReply(text: string, address: string): ModelReply {
  const parsed = replySchema.safeParse(parseJson(text))
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    throw answered(address, `its answer is no chat completion (${issue.path.map(String).join('.')}: ${issue.message})`)
  }
  const { choices, usage } = parsed.data
  const [{ message }] = choices
  return {
    message: { ...message, role: 'assistant', content: message.content ?? null },
    content: message.content ?? '',
    calls: (message.tool_calls ?? []).map(({ id, function: { name, arguments: given } }) => ({
      id,
      name,
      arguments: given ?? '',
    })),
    usage: {
      prompt_tokens: usage?.prompt_tokens ?? 0,
      completion_tokens: usage?.completion_tokens ?? 0,
    },
  }
}

/** What its server says is not repeated: it may be one that the caller should not see. */
function answered(address: string, why: string): AgentGymError {
  return new AgentGymError({
    code: 'language_model_failed',
    message: `The language model at ${new URL(address).origin} cannot be used: ${why}.`,
    hint: 'Look at its log. Rollouts without a result are errors, not zeros; send their ids again.',
    data: { base_url: new URL(address).origin },
  })
}
