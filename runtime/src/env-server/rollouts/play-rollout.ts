import { AgentGymError, type ErrorReport } from '@agentgym/contract'
import { EpisodeSession, type StepInput, type Turn } from '../episode-session.ts'
import { readArguments } from '../openenv/wire-forms.ts'
import type { OutboundClient } from '../outbound/outbound-client.ts'
import type { ServedEnvironment } from '../served-environment.ts'
import type { Sessions } from '../sessions.ts'
import type { SplitName } from '../task-splits.ts'
import { turnText } from '../turn-text.ts'
import { callsAsText } from './calls-as-text.ts'
import { type LanguageModel, type Message, type ModelReply, nextReply } from './model-replies.ts'

export type RolloutPlan = {
  environment: ServedEnvironment
  sessions: Sessions
  client: OutboundClient
  llm: LanguageModel
  /** Most replies of the model. */
  maxRounds: number
  /** Whether tools are offered as such; else the model writes its action as text. */
  tools: boolean
  split: SplitName
  signal: AbortSignal
}

/** One conversation with its score, or with the error that left it without one. Never both. */
export type Rollout = {
  id: string | number
  messages: Message[]
  usage: ModelReply['usage']
} & (
  | {
      /** Sum of the rewards. */
      reward: number
      rounds: number
      steps: number
      /** `max_round`: the model had no reply left, and the episode had not ended. */
      end: 'terminated' | 'truncated' | 'max_round'
      metrics: Record<string, number>
    }
  | { error: ErrorReport }
)

/** Plays task `index` with a language model. Whatever goes wrong becomes the rollout's error. */
export async function playRollout(id: string | number, index: number, plan: RolloutPlan): Promise<Rollout> {
  const { environment, sessions, split } = plan
  const conversation: Message[] = []
  const usage = { prompt_tokens: 0, completion_tokens: 0 }
  try {
    const session = await EpisodeSession.open(sessions, environment)
    try {
      const turn = await session.reset({ split, index })
      return { id, ...(await converse(session, turn, { plan, conversation, usage })), messages: conversation, usage }
    } finally {
      await session.end()
    }
  } catch (error) {
    return { id, error: reportOf(error), messages: conversation, usage }
  }
}

type Talk = { plan: RolloutPlan; conversation: Message[]; usage: ModelReply['usage'] }

async function converse(session: EpisodeSession, first: Turn, { plan, conversation, usage }: Talk) {
  const { environment, client, llm, maxRounds, signal } = plan
  const tools = plan.tools ? environment.form.tools : null
  const how = tools === null && environment.form.form === 'tools' ? `\n${callsAsText}` : ''
  conversation.push({ role: 'system', content: `${environment.form.task}${how}` })
  conversation.push({ role: 'user', content: turnText(first) })
  let turn = first
  let rounds = 0
  while (!turn.done && rounds < maxRounds) {
    signal.throwIfAborted()
    const reply = await nextReply(client, llm, conversation, { tools, signal })
    rounds += 1
    usage.prompt_tokens += reply.usage.prompt_tokens
    usage.completion_tokens += reply.usage.completion_tokens
    conversation.push(reply.message)
    turn = await playReply(session, turn, reply, conversation)
  }
  const { return: reward, steps } = session.state
  const end = !turn.done ? ('max_round' as const) : turn.truncated ? ('truncated' as const) : ('terminated' as const)
  return { reward, rounds, steps, end, metrics: turn.metrics }
}

/** Every call of a reply is answered, in order: what comes after the end of the episode is told so. */
async function playReply(
  session: EpisodeSession,
  before: Turn,
  reply: ModelReply,
  conversation: Message[],
): Promise<Turn> {
  if (reply.calls.length === 0) {
    const { turn, text } = await playOne(session, before, () => ({ reply: reply.content }))
    if (!turn.done) conversation.push({ role: 'user', content: text })
    return turn
  }
  let turn = before
  for (const { id, name, arguments: given } of reply.calls) {
    const played = turn.done
      ? { turn, text: 'The episode has ended.' }
      : await playOne(session, turn, () => ({ tool: name, arguments: readArguments(given) }))
    turn = played.turn
    conversation.push({ role: 'tool', tool_call_id: id, content: played.text })
  }
  return turn
}

/** A reply that is no legal action plays nothing: the model reads why, and has used up a round. */
async function playOne(
  session: EpisodeSession,
  before: Turn,
  input: () => StepInput,
): Promise<{ turn: Turn; text: string }> {
  try {
    const turn = await session.step(input())
    return { turn, text: turnText(turn) }
  } catch (error) {
    if (!(error instanceof AgentGymError) || error.code !== 'action_invalid') throw error
    return { turn: before, text: [error.message, error.hint].filter(Boolean).join(' ') }
  }
}

function reportOf(error: unknown): ErrorReport {
  if (error instanceof AgentGymError) return error.toReport()
  const aborted = error instanceof Error && error.name === 'AbortError'
  if (!aborted) console.error(error)
  return new AgentGymError(
    aborted
      ? { code: 'language_model_unreachable', message: 'The request was canceled before the model answered.' }
      : { code: 'internal_error', message: 'The server failed; its log says why.' },
    { cause: error },
  ).toReport()
}
