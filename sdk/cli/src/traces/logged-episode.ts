import { scoreOf } from './outcomes.ts'

/** One request to an agent, and what it did: what every format is read to. */

export type LoggedCall = {
  tool: string
  /** By field; text that is no JSON object is under `input`. */
  arguments: Record<string, unknown>
  result: string
  failed: boolean
  /** Of the language model's turn that decided on the call. Null where the log does not say. */
  tokens: number | null
  seconds: number | null
  /** Probability with which the logged policy chose this tool; null where the log does not say. */
  probability: number | null
}

export type LoggedEpisode = {
  id: string
  /** The first message of the user. */
  request: string
  /** Messages of the user after the first. */
  followUps: number
  calls: LoggedCall[]
  /** Whether the agent ended with an answer. */
  answered: boolean
  answerTokens: number | null
  answerSeconds: number | null
  answerProbability: number | null
  /** Scores, feedback and fields of outcomes by name. */
  outcomes: Record<string, number>
}

/** A turn of the language model. */
export type ModelTurn = {
  /** Milliseconds since 1970, or the order in the log. */
  at: number
  seconds: number | null
  tokens: number | null
  messages: readonly Message[]
  /** What the model answered. */
  output: Message | null
  probability: number | null
}

/** A tool as it ran. */
export type ToolRun = Omit<LoggedCall, 'tokens'> & { at: number; callId: string | null }

/** What a trace holds, in any order. */
export type TraceParts = {
  id: string
  turns: ModelTurn[]
  runs: ToolRun[]
  /** Messages of the whole trace's input, where the trace itself has one. */
  input: readonly Message[]
  outcomes: Record<string, number>
}

/** A message of a conversation, whatever framework wrote it. */
export type Message = {
  role: 'system' | 'user' | 'assistant' | 'tool'
  text: string
  calls: { id: string | null; name: string; arguments: unknown; probability: number | null }[]
  /** Results of tools, by the id of the call. */
  results: { id: string | null; text: string; failed: boolean }[]
}

export type TraceFormat = 'messages' | 'opentelemetry' | 'langsmith' | 'langfuse'

/** A piece of a trace. `whole`: nothing of this trace follows. `score`: it is an outcome alone, which may come before the trace. */
export type TraceRecord = {
  format: TraceFormat
  trace: string
  whole: boolean
  score?: boolean
  add(parts: TraceParts): void
}

// What is kept of an open trace. Turns repeat the whole conversation, so only what an episode needs of them is.
const MAX_TEXT = 4_000
const MAX_PIECES = 500
const MAX_MESSAGES = 200
const MAX_OUTCOMES = 32

/** A copy that does not keep the longer text in memory. */
export function cut(text: string, longest = MAX_TEXT): string {
  return text.length <= longest ? text : Buffer.from(text.slice(0, longest)).toString('utf8')
}

export function addTurn(parts: TraceParts, turn: ModelTurn): void {
  if (parts.turns.length >= MAX_PIECES) return
  const output = turn.output === null ? null : { ...turn.output, text: cut(turn.output.text, 1) }
  parts.turns.push({ ...turn, messages: kept(turn.messages), output })
}

export function addRun(parts: TraceParts, run: ToolRun): void {
  if (parts.runs.length < MAX_PIECES) parts.runs.push({ ...run, result: cut(run.result) })
}

export function setInput(parts: TraceParts, messages: readonly Message[]): void {
  parts.input = kept(messages)
}

/** Keeps what can be an outcome: a number, a yes or no, or a word for one. */
export function addOutcome({ outcomes }: TraceParts, name: string, value: unknown): void {
  const score = scoreOf(value)
  if (score !== null && name !== '' && Object.keys(outcomes).length < MAX_OUTCOMES) outcomes[name.slice(0, 100)] = score
}

function kept(messages: readonly Message[]): Message[] {
  const useful = messages.filter(({ role, results }) => role === 'user' || results.length > 0)
  return useful.slice(0, MAX_MESSAGES).map((message) => ({
    ...message,
    text: cut(message.text),
    results: message.results.map((result) => ({ ...result, text: cut(result.text) })),
  }))
}

export function emptyParts(id: string): TraceParts {
  return { id, turns: [], runs: [], input: [], outcomes: Object.create(null) }
}

/** The episode of a whole trace; null where there was no request. */
export function episodeOf({ id, turns, runs, input, outcomes }: TraceParts): LoggedEpisode | null {
  const ordered = turns.toSorted((a, b) => a.at - b.at)
  const users = longestConversation([input, ...ordered.map(({ messages }) => messages)])
  const request = users[0]?.trim()
  if (!request) return null
  const answer = ordered.at(-1)
  const answered = answer?.output != null && answer.output.calls.length === 0 && answer.output.text !== ''
  const deciding = answered ? ordered.slice(0, -1) : ordered
  return {
    ...{ id, request, followUps: users.length - 1, outcomes, answered },
    calls: runs.length > 0 ? callsOfRuns(runs, deciding) : callsOfTurns(ordered, input),
    answerTokens: answered ? answer.tokens : null,
    answerSeconds: answered ? answer.seconds : null,
    answerProbability: answered ? answer.probability : null,
  }
}

/** What the user wrote, from the conversation that shows most of it: each turn repeats what was said before. */
function longestConversation(conversations: readonly (readonly Message[])[]): string[] {
  let longest: string[] = []
  for (const messages of conversations) {
    const users = messages.flatMap(({ role, text }) => (role === 'user' && text.trim() !== '' ? [text] : []))
    if (users.length > longest.length) longest = users
  }
  return longest
}

/** The tools that ran, each with the tokens of the turn before it that no other call has. */
function callsOfRuns(runs: readonly ToolRun[], turns: readonly ModelTurn[]): LoggedCall[] {
  let next = 0
  return runs
    .toSorted((a, b) => a.at - b.at)
    .map(({ at, callId, ...run }) => {
      let tokens: number | null = null
      let probability = run.probability
      for (; next < turns.length && turns[next].at <= at; next += 1) {
        const turn = turns[next]
        if (turn.tokens !== null) tokens = (tokens ?? 0) + turn.tokens
        const call = turn.output?.calls.find(({ id, name }) => (callId === null ? name === run.tool : id === callId))
        probability ??= call?.probability ?? turn.probability
      }
      return { ...run, tokens, probability }
    })
}

/** The calls that the model asked for, with the results that later turns show. */
function callsOfTurns(turns: readonly ModelTurn[], input: readonly Message[]): LoggedCall[] {
  const results = new Map<string, { text: string; failed: boolean }>()
  for (const message of [...input, ...turns.flatMap(({ messages }) => messages)])
    for (const { id, ...result } of message.results) if (id !== null) results.set(id, result)
  return turns.flatMap(({ output, tokens, seconds, probability }) =>
    (output?.calls ?? []).map((call, place) => ({
      tool: call.name,
      arguments: argumentsOf(call.arguments),
      result: (call.id === null ? undefined : results.get(call.id))?.text ?? '',
      failed: (call.id === null ? undefined : results.get(call.id))?.failed ?? false,
      // A turn with several calls is paid once.
      tokens: place === 0 ? tokens : tokens === null ? null : 0,
      seconds: place === 0 ? seconds : seconds === null ? null : 0,
      probability: call.probability ?? probability,
    })),
  )
}

/** Arguments as an object: JSON is parsed, and anything else is under `input`. */
export function argumentsOf(given: unknown): Record<string, unknown> {
  let value = given
  if (typeof given === 'string') {
    try {
      value = JSON.parse(given)
    } catch {
      value = given
    }
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  return value === undefined || value === null || value === '' ? {} : { input: value }
}
