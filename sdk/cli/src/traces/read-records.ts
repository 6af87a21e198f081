/**
 * What the values of a log mean: OpenAI-style messages, spans of OpenTelemetry, runs of LangSmith, observations of Langfuse. Each
 * value says by its fields which it is.
 */
import {
  addOutcome,
  addRun,
  addTurn,
  argumentsOf,
  type Message,
  setInput,
  type TraceParts,
  type TraceRecord,
} from './logged-episode.ts'
import { fieldsOf, firstNumber, listOf, messagesIn, numberOf, readMessage, textOf, unpacked } from './messages.ts'
import { spanRecords } from './otel-spans.ts'
import { scoreOf } from './outcomes.ts'

type Fields = { readonly [key: string]: unknown }

/** The pieces in one value of a log; none if it is of no known format. `place` is its number, the name of a trace without one. */
export function readRecords(value: unknown, place: number): TraceRecord[] {
  const fields = fieldsOf(value)
  if (fields === null) return []
  if (fields.scopeSpans !== undefined || fields.resourceSpans !== undefined) return spanRecords(fields)
  if (typeof fields.run_type === 'string') return [langSmithRun(fields)]
  if (Array.isArray(fields.messages)) return [conversation(fields, place)]
  if (Array.isArray(fields.observations)) return langfuseTrace(fields)
  const trace = fields.traceId ?? fields.trace_id
  if (typeof trace === 'string') {
    if (typeof fields.type === 'string') return [langfuseObservation(fields, trace)]
    if (typeof fields.name === 'string' && (fields.value ?? fields.string_value ?? fields.stringValue) !== undefined)
      return [langfuseScore(fields, trace)]
  }
  return []
}

/** A line of OpenAI-style messages is a whole conversation. Fields beside `messages` may hold its outcome, tokens and latency. */
function conversation(fields: Fields, place: number): TraceRecord {
  const id = [fields.id, fields.trace_id, fields.conversation_id].find((name) => typeof name === 'string')
  return {
    format: 'messages',
    trace: typeof id === 'string' ? `${id}#${place}` : `#${place}`,
    whole: true,
    add(parts) {
      addConversation(parts, listOf(fields.messages), fields)
    },
  }
}

function addConversation(parts: TraceParts, given: readonly unknown[], fields: Fields): void {
  const messages: Message[] = []
  for (const [place, entry] of given.entries()) {
    const own = fieldsOf(entry)
    const message = own === null ? null : readMessage(own)
    if (own === null || message === null) continue
    if (message.role === 'assistant') {
      const metadata = fieldsOf(own.metadata)
      addTurn(parts, {
        at: place,
        seconds: firstNumber(own.seconds, own.latency, metadata?.latency),
        tokens: tokensOf(own) ?? tokensOf(metadata ?? {}),
        messages: [],
        output: message,
        probability: firstNumber(own.probability, metadata?.probability),
      })
    }
    messages.push(message)
  }
  // With the results, which come after the calls.
  setInput(parts, messages)
  shareOut(parts, fields)
  for (const [name, value] of [...Object.entries(fields), ...Object.entries(fieldsOf(fields.metadata) ?? {})])
    if (!noOutcomes.has(name)) addOutcome(parts, name, value)
}

/** Numbers beside a conversation that say nothing of what came of it. */
const noOutcomes = new Set([
  'id',
  'latency',
  'seconds',
  'duration',
  'created',
  'created_at',
  'timestamp',
  'seed',
  'temperature',
])

/** Tokens and seconds of a whole conversation, over the turns that have none of their own. */
function shareOut({ turns }: TraceParts, fields: Fields): void {
  const tokens = tokensOf(fields)
  const seconds = firstNumber(fields.seconds, fields.latency, fields.duration)
  const counted = turns.some((turn) => turn.tokens !== null)
  const timed = turns.some((turn) => turn.seconds !== null)
  for (const turn of turns) {
    if (!counted && tokens !== null) turn.tokens = tokens / turns.length
    if (!timed && seconds !== null) turn.seconds = seconds / turns.length
  }
}

/** The total of a `usage` in any spelling; null if there is none. */
function tokensOf(fields: Fields): number | null {
  const usage =
    fieldsOf(fields.usage) ??
    fieldsOf(fields.usage_metadata) ??
    fieldsOf(fields.usage_details) ??
    fieldsOf(fields.usageDetails) ??
    fields
  const total = firstNumber(usage.total_tokens, usage.totalTokens, usage.total)
  if (total !== null) return total
  const input = firstNumber(usage.prompt_tokens, usage.input_tokens, usage.inputTokens, usage.input)
  const output = firstNumber(usage.completion_tokens, usage.output_tokens, usage.outputTokens, usage.output)
  return input === null && output === null ? null : (input ?? 0) + (output ?? 0)
}

/** A run of LangSmith, as its SDK and `POST /runs/query` give it (run data format of 2026). */
function langSmithRun(fields: Fields): TraceRecord {
  const trace = textOf(fields.trace_id ?? fields.id)
  const at = timeOf(fields.start_time)
  const seconds = secondsBetween(at, timeOf(fields.end_time))
  const metadata = fieldsOf(fieldsOf(fields.extra)?.metadata)
  const probability = firstNumber(metadata?.['agentgym.probability'], metadata?.probability)
  return {
    format: 'langsmith',
    trace,
    whole: false,
    add(parts) {
      for (const [key, stats] of Object.entries(fieldsOf(fields.feedback_stats) ?? {}))
        addOutcome(parts, key, fieldsOf(stats)?.avg ?? stats)
      if (fields.run_type === 'tool') {
        const failed = fields.error !== undefined && fields.error !== null
        addRun(parts, {
          at,
          seconds,
          ...{ callId: null, tool: textOf(fields.name), failed, probability },
          arguments: argumentsOf(toolInput(fields.inputs)),
          result: failed ? textOf(fields.error) : toolOutput(fields.outputs),
        })
      } else if (fields.run_type === 'llm') {
        addTurn(parts, {
          ...{ at, seconds, probability, tokens: tokensOf(fields) },
          messages: messagesIn(fields.inputs),
          output: messagesIn(fields.outputs, 'assistant').at(-1) ?? null,
        })
      } else if (fields.parent_run_id === undefined || fields.parent_run_id === null) {
        setInput(parts, messagesIn(fields.inputs))
      }
    },
  }
}

/** A trace of Langfuse's API with its observations and scores inside. */
function langfuseTrace(fields: Fields): TraceRecord[] {
  const trace = textOf(fields.id)
  const root: TraceRecord = {
    format: 'langfuse',
    trace,
    whole: false,
    add(parts) {
      setInput(parts, messagesIn(fields.input))
    },
  }
  const parts = listOf(fields.observations).flatMap((value) => {
    const observation = fieldsOf(value)
    return observation === null ? [] : [langfuseObservation(observation, trace)]
  })
  const scores = listOf(fields.scores).flatMap((value) => {
    const score = fieldsOf(value)
    return score === null ? [] : [langfuseScore(score, trace)]
  })
  // Scores first: the piece that completes the trace is the last.
  const records = [...scores, ...parts, root]
  root.whole = true
  return records
}

/** An observation of Langfuse: of its API (camel case) or of an export to blob storage (snake case, version 4 of 2026). */
function langfuseObservation(fields: Fields, trace: string): TraceRecord {
  const at = timeOf(fields.startTime ?? fields.start_time)
  const seconds = numberOf(fields.latency) ?? secondsBetween(at, timeOf(fields.endTime ?? fields.end_time))
  const metadata = fieldsOf(unpacked(fields.metadata))
  const probability = firstNumber(metadata?.['agentgym.probability'], metadata?.probability)
  const type = textOf(fields.type).toUpperCase()
  return {
    format: 'langfuse',
    trace,
    whole: false,
    add(parts) {
      if (type === 'TOOL') {
        const failed = fields.level === 'ERROR'
        addRun(parts, {
          ...{ at, seconds, probability, failed, callId: null, tool: textOf(fields.name) },
          arguments: argumentsOf(toolInput(unpacked(fields.input))),
          result: toolOutput(unpacked(fields.output)) || textOf(fields.statusMessage ?? fields.status_message),
        })
      } else if (type === 'GENERATION') {
        addTurn(parts, {
          ...{ at, seconds, probability, tokens: tokensOf(fields) },
          messages: messagesIn(fields.input),
          output: messagesIn(fields.output, 'assistant').at(-1) ?? null,
        })
      } else if (
        (fields.parentObservationId ?? fields.parent_observation_id ?? null) === null &&
        parts.input.length === 0
      ) {
        setInput(parts, messagesIn(fields.input))
      }
    },
  }
}

function langfuseScore(fields: Fields, trace: string): TraceRecord {
  const value = fields.value ?? fields.stringValue ?? fields.string_value
  const word = fields.stringValue ?? fields.string_value
  return {
    format: 'langfuse',
    trace,
    whole: false,
    score: true,
    add(parts) {
      addOutcome(parts, textOf(fields.name), scoreOf(word) ?? value)
    },
  }
}

/** LangChain wraps a tool's only argument, and the call itself. */
function toolInput(value: unknown): unknown {
  const fields = fieldsOf(value)
  if (fields === null) return value
  const inner = unpacked(fields.input ?? fields.args)
  return Object.keys(fields).length === 1 && fieldsOf(inner) !== null ? inner : value
}

function toolOutput(value: unknown): string {
  const fields = fieldsOf(value)
  if (fields === null) return textOf(value)
  const inner = fields.output ?? fields.content
  if (inner === undefined) return textOf(value)
  const message = fieldsOf(inner)
  return message === null ? textOf(inner) : textOf(message.content ?? fieldsOf(message.kwargs)?.content ?? inner)
}

/** Milliseconds since 1970 of what logs write; 0 for nothing. */
function timeOf(value: unknown): number {
  if (typeof value === 'number') return value
  if (typeof value !== 'string') return 0
  // Langfuse's exports are in UTC and say no zone; neither do LangSmith's.
  const zoned = /(Z|[+-]\d\d:?\d\d)$/.test(value) ? value : `${value.replace(' ', 'T')}Z`
  const time = Date.parse(zoned)
  return Number.isNaN(time) ? 0 : time
}

function secondsBetween(start: number, end: number): number | null {
  return start > 0 && end >= start ? (end - start) / 1000 : null
}
