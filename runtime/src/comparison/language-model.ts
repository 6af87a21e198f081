import { AgentGymError } from '@agentgym/contract'
import { z } from 'zod'
import { superviseJob } from '../sandbox/supervisor.ts'
import type { LanguageModelJob, LanguageModelRequest } from './language-model.process.ts'
import { type LanguageModelFiles, languageModelSource } from './obtain-language-model.ts'

/** A language model that picks one of several choices, as its probabilities for them are. */
export type LanguageModel = {
  name: string
  /** Of its file. */
  sha256: string
  /** What runs it, with its version. */
  engine: string
  /** Rejects with `language_model_failed`. */
  choose(document: string, question: string, choices: readonly string[]): Promise<LanguageModelChoice>
  close(): Promise<void>
}

type LanguageModelChoice = { choice: string; ms: number; tokens: number }

const replySchema = z.union([
  z.strictObject({ kind: z.literal('ready') }),
  z.strictObject({
    kind: z.literal('chosen'),
    choice: z.string(),
    ms: z.number().nonnegative(),
    /** Tokens read. */
    tokens: z.int().nonnegative(),
  }),
])
type Reply = z.infer<typeof replySchema>

/** The model takes 300 MB; more is a fault. */
const MEMORY_MB = 2_048

/**
 * Starts the language model in a process of its own, behind the walls of a job and apart from the scenario's: what it reads are
 * words of a stranger. One question at a time. Close it afterwards.
 */
export async function openLanguageModel({ engine, model }: LanguageModelFiles): Promise<LanguageModel> {
  const abort = new AbortController()
  let waiting = Promise.withResolvers<Reply>()
  let send: (message: LanguageModelRequest) => void = () => {}
  let failure: AgentGymError | undefined
  const job: LanguageModelJob = { engine, model }
  const ended = superviseJob({
    entry: new URL('./language-model.process.ts', import.meta.url),
    job,
    identity: { name: languageModelSource.name, version: languageModelSource.package.version, hash: '' },
    library: [engine, model],
    // It looks for the home folder of its user, who has none.
    environment: { HOME: '/nonexistent' },
    limits: { processMemoryMb: MEMORY_MB },
    signal: abort.signal,
    onStart: (sendMessage) => {
      send = sendMessage
    },
    onMessage: (message) => waiting.resolve(replySchema.parse(message)),
  }).catch((cause: unknown) => {
    failure = failed(cause)
    waiting.reject(failure)
  })
  const close = async () => {
    waiting.promise.catch(() => {})
    abort.abort()
    await ended
  }
  try {
    await waiting.promise
  } catch (error) {
    await close()
    throw error
  }
  return {
    ...{
      name: languageModelSource.name,
      sha256: languageModelSource.sha256,
      engine: languageModelSource.engine,
      close,
    },
    async choose(document, question, choices) {
      if (failure !== undefined) throw failure
      waiting = Promise.withResolvers()
      send({ document, question, choices: [...choices] })
      const reply = await waiting.promise
      if (reply.kind === 'chosen' && choices.includes(reply.choice)) return reply
      throw failed(new Error('it answered something else than one of the choices'))
    },
  }
}

function failed(cause: unknown): AgentGymError {
  const why = cause instanceof Error ? cause.message : 'for an unknown reason'
  return new AgentGymError(
    {
      code: 'language_model_failed',
      message: `The local language model ${languageModelSource.name} cannot be used: ${why}`,
      hint: 'Leave --baseline out, or report it with what --verbose says.',
    },
    { cause },
  )
}
