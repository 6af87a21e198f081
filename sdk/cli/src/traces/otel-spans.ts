/**
 * Spans of OpenTelemetry's conventions for generative AI, versions 1.37 to 1.41 and, since they are apart, 0.1 (attributes `gen_ai.input.messages` and
 * `gen_ai.output.messages`; tools as `execute_tool` spans), in OTLP's JSON encoding.
 */
import {
  addOutcome,
  addRun,
  addTurn,
  argumentsOf,
  setInput,
  type TraceParts,
  type TraceRecord,
} from './logged-episode.ts'
import { fieldsOf, firstNumber, listOf, messagesIn, textOf, unpacked } from './messages.ts'

type Fields = { readonly [key: string]: unknown }

/** The spans in one of OTLP's `resourceSpans`, or in a whole message of them. */
export function spanRecords(fields: Fields): TraceRecord[] {
  if (fields.resourceSpans !== undefined) {
    return listOf(fields.resourceSpans).flatMap((entry) => spanRecords(fieldsOf(entry) ?? {}))
  }
  const spans = listOf(fields.scopeSpans).flatMap((scope) => listOf(fieldsOf(scope)?.spans))
  return spans.flatMap((value) => {
    const span = fieldsOf(value)
    if (span === null || typeof span.traceId !== 'string') return []
    return [{ format: 'opentelemetry', trace: span.traceId, whole: false, add: (parts) => addSpan(parts, span) }]
  })
}

const details = ['gen_ai.client.inference.operation.details', 'gen_ai.client.operation.details']

function addSpan(parts: TraceParts, span: Fields): void {
  const attributes = { ...attributesOf(span.attributes) }
  for (const value of listOf(span.events)) {
    const event = fieldsOf(value) ?? {}
    const own = attributesOf(event.attributes)
    if (event.name === 'gen_ai.evaluation.result') addEvaluation(parts, own)
    else if (details.includes(textOf(event.name))) Object.assign(attributes, own)
  }
  if (attributes['gen_ai.evaluation.name'] !== undefined) addEvaluation(parts, attributes)
  const at = milliseconds(span.startTimeUnixNano)
  const end = milliseconds(span.endTimeUnixNano)
  const timed = { at, seconds: at > 0 && end >= at ? (end - at) / 1000 : null }
  const probability = firstNumber(attributes['agentgym.probability'])
  const operation = attributes['gen_ai.operation.name']
  const input = messagesIn(attributes['gen_ai.input.messages'])
  if (operation === 'execute_tool') {
    const failed =
      attributes['error.type'] !== undefined ||
      fieldsOf(span.status)?.code === 2 ||
      fieldsOf(span.status)?.code === 'STATUS_CODE_ERROR'
    const callId = attributes['gen_ai.tool.call.id']
    addRun(parts, {
      ...{ ...timed, probability, failed, callId: typeof callId === 'string' ? callId : null },
      tool: textOf(attributes['gen_ai.tool.name'] ?? span.name),
      arguments: argumentsOf(attributes['gen_ai.tool.call.arguments']),
      result: textOf(attributes['gen_ai.tool.call.result'] ?? fieldsOf(span.status)?.message),
    })
  } else if (operation === 'chat' || operation === 'generate_content' || operation === 'text_completion') {
    const read = firstNumber(attributes['gen_ai.usage.input_tokens'], attributes['gen_ai.usage.prompt_tokens'])
    const written = firstNumber(attributes['gen_ai.usage.output_tokens'], attributes['gen_ai.usage.completion_tokens'])
    addTurn(parts, {
      ...{ ...timed, probability, messages: input },
      tokens: read === null && written === null ? null : (read ?? 0) + (written ?? 0),
      output: messagesIn(attributes['gen_ai.output.messages'], 'assistant').at(-1) ?? null,
    })
  } else if ((operation === 'invoke_agent' || operation === 'invoke_workflow') && parts.input.length === 0)
    setInput(parts, input)
}

function addEvaluation(parts: TraceParts, attributes: Fields): void {
  const value = attributes['gen_ai.evaluation.score.value'] ?? attributes['gen_ai.evaluation.score.label']
  addOutcome(parts, textOf(attributes['gen_ai.evaluation.name']), value)
}

/** OTLP's list of keys and typed values as an object. */
function attributesOf(list: unknown): Record<string, unknown> {
  const attributes: Record<string, unknown> = Object.create(null)
  for (const entry of listOf(list)) {
    const pair = fieldsOf(entry)
    if (pair !== null && typeof pair.key === 'string')
      attributes[pair.key] = unpacked(attributeValue(fieldsOf(pair.value)))
  }
  return attributes
}

function attributeValue(value: Fields | null): unknown {
  if (value === null) return null
  if (value.stringValue !== undefined) return value.stringValue
  if (value.intValue !== undefined) return Number(value.intValue)
  if (value.doubleValue !== undefined) return Number(value.doubleValue)
  if (value.boolValue !== undefined) return value.boolValue
  const items = fieldsOf(value.arrayValue)
  if (items !== null) return listOf(items.values).map((item) => attributeValue(fieldsOf(item)))
  const pairs = fieldsOf(value.kvlistValue)
  return pairs === null ? null : { ...attributesOf(pairs.values) }
}

function milliseconds(nanoseconds: unknown): number {
  const value = typeof nanoseconds === 'string' || typeof nanoseconds === 'number' ? Number(nanoseconds) : 0
  return value / 1e6
}
