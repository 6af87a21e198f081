import { type ScenarioLogs, type Scene, sceneLimits, sceneSchema, spaceDescriptionSchema } from '@agentgym/contract'
import { z } from 'zod'
import { placeOf } from './board.ts'
import { scenarioError } from './scenario-failure.ts'
import type { ScenarioDescription, ScenarioIdentity } from './vector-environment.ts'

const count = z.int().nonnegative()

/** One line without control characters. */
const levelText = (longest: number) =>
  z
    .string()
    .min(1)
    .max(longest)
    .regex(/^[^\p{C}\p{Zl}\p{Zp}]+$/u)

const descriptionSchema: z.ZodType<ScenarioDescription> = z.strictObject({
  observation: spaceDescriptionSchema,
  action: spaceDescriptionSchema,
  maxSteps: z.int().positive(),
  tasks: z.strictObject({ train: count, eval: count }),
  levels: z
    .array(z.strictObject({ name: levelText(40), description: levelText(200).optional() }))
    .min(2)
    .max(16)
    .optional(),
  masked: z.boolean(),
  memory: z.literal(true).optional(),
  oracle: z.literal(true).optional(),
  renders: z.literal(true).optional(),
  sizes: z.strictObject({ observation: z.int().positive(), action: z.int().positive(), mask: count, text: count }),
})

/** Takes the description that came out of the isolate as what it is: text from a stranger. */
export function readDescription(identity: ScenarioIdentity, text: string): ScenarioDescription {
  try {
    return descriptionSchema.parse(JSON.parse(text))
  } catch {
    throw scenarioError(identity, {
      code: 'scenario_invalid',
      place: { phase: 'define' },
      what: 'the definition does not describe itself: its spaces changed while they were read',
      hint: 'Make the spaces with box, discrete, multiDiscrete, text and dict, and leave the built-ins as they are.',
    })
  }
}

/** Whether every number is finite: a sum of x·0 is 0, or NaN from the first that is not. Four sums hide the latency. */
export function allFinite(values: Float32Array | Float64Array, length = values.length): boolean {
  let a = 0
  let b = 0
  let c = 0
  let d = 0
  const whole = length & ~3
  for (let index = 0; index < whole; index += 4) {
    a += values[index] * 0
    b += values[index + 1] * 0
    c += values[index + 2] * 0
    d += values[index + 3] * 0
  }
  for (let index = whole; index < length; index++) a += values[index] * 0
  return a + b + c + d === 0
}

/** First row of `width` that holds a number that is not finite; -1 where there is none. */
export function firstBadRow(values: Float32Array, width: number): number {
  if (allFinite(values)) return -1
  const bad = values.findIndex((value) => !Number.isFinite(value))
  return Math.floor(bad / width)
}

/** As `firstBadRow`, among the rows whose flags are set: the others hold what an earlier episode left. */
export function firstBadFlaggedRow(values: Float32Array, width: number, flags: Uint8Array): number {
  for (let row = 0; row < flags.length; row++) {
    if (flags[row] === 0) continue
    let sum = 0
    for (let index = row * width, end = index + width; index < end; index++) sum += values[index] * 0
    if (sum !== 0) return row
  }
  return -1
}

/**
 * First row whose mask leaves a component without a legal choice, or holds anything but 0 and 1; -1 where there is none.
 * `counts` are the choices of each categorical component, in the order of the mask's columns.
 */
export function firstIllegalMask(
  masks: Uint8Array,
  counts: readonly number[],
  flags: Uint8Array,
  idle: number,
): number {
  let column = 0
  for (let row = 0; row < flags.length; row++) {
    for (const count of counts) {
      let legal = 0
      let strange = 0
      for (let end = column + count; column < end; column++) {
        legal |= masks[column]
        strange |= masks[column] & 0xfe
      }
      if ((legal === 0 || strange !== 0) && (flags[row] & idle) === 0) return row
    }
  }
  return -1
}

/** As many as the engine gives of each observation, and units of each. */
const MAX_TEXTS = 4
const MAX_CHARACTERS = 500

/** What the texts of one row's observations say, in order of the leaves. */
export type WatchedTexts = {
  /** Of the row in `buffers.observations`. */
  now: string[]
  /** Of the row in `buffers.finalObservations`: of the episode that ended last. */
  final: string[]
}

/**
 * Reads what the engine's `TextWatch` encoded. It shares a realm with a stranger's code: what does not read ends there, and
 * control characters become spaces.
 */
export function readWatchedTexts(encoded: string): WatchedTexts {
  const reader = { encoded, at: 0 }
  return { now: readTexts(reader), final: readTexts(reader) }
}

type Reader = { encoded: string; at: number }

function readTexts(reader: Reader): string[] {
  const count = readNumber(reader, ';', MAX_TEXTS)
  const texts: string[] = []
  while (texts.length < count) {
    const length = readNumber(reader, ':', MAX_CHARACTERS)
    texts.push(printable(reader.encoded.slice(reader.at, reader.at + length)))
    reader.at += length
  }
  return texts
}

/** Digits that a picture needs of a number: thousandths of the scene's size. */
const SCENE_DIGITS = 3

/** Reads what the engine's `scene` encoded, its numbers rounded; null where it does not read, or there is nothing. */
export function readScene(encoded: string): Scene | null {
  if (encoded === '' || encoded.length > 2 * sceneLimits.characters) return null
  try {
    const { width, height } = JSON.parse(encoded)
    const unit = 10 ** Math.floor(Math.log10(Math.max(width, height)) - SCENE_DIGITS)
    const decimals = Math.max(0, Math.min(15, -Math.log10(unit)))
    const rounded = (_key: string, value: unknown) =>
      typeof value === 'number' ? Number((Math.round(value / unit) * unit).toFixed(decimals)) : value
    const { shapes, ...size } = JSON.parse(encoded)
    return sceneSchema.parse({ ...size, shapes: JSON.parse(JSON.stringify(shapes), rounded) })
  } catch {
    return null
  }
}

/** As many as the harness keeps, and units of each; both are checked again here. */
const MAX_LOGS = 100
const MAX_LOG_CHARACTERS = 501
const logLine = /^(debug|error|info|log|trace|warn)\t(\d{1,2})\t(\d{1,10})\t(\d{1,10})\t(\d{1,10})\t(.*)$/

/** Reads what `takeLogs` of the harness wrote; what does not read is left out. */
export function readLogs(encoded: string): ScenarioLogs {
  const [calls, ...lines] = encoded.slice(0, 2 * MAX_LOGS * MAX_LOG_CHARACTERS).split('\n')
  const entries = lines.slice(0, MAX_LOGS).flatMap((line): ScenarioLogs['entries'] => {
    const match = logLine.exec(line)
    if (match === null) return []
    const [phase, environment, episode, step] = match.slice(2, 6).map(Number)
    const level = match[1] as ScenarioLogs['entries'][number]['level']
    const text = printable(match[6].slice(0, MAX_LOG_CHARACTERS))
    return [{ level, text, ...placeOf(phase, { environment, episode, step }) }]
  })
  return { calls: /^\d{1,15}$/.test(calls) ? Number(calls) : 0, entries }
}

/** Digits up to `sign`; 0 where there are none, or where it is more than `most`. */
function readNumber(reader: Reader, sign: string, most: number): number {
  const end = reader.encoded.indexOf(sign, reader.at)
  const number = end < 0 ? 0 : Number(reader.encoded.slice(reader.at, end))
  if (end >= 0) reader.at = end + 1
  return Number.isInteger(number) && number >= 0 && number <= most ? number : 0
}

/** A text of a stranger as `sampleEpisodeSchema` takes it. */
export function printable(text: string): string {
  return text.toWellFormed().replace(/[^\P{Cc}\t\n]/gu, ' ')
}
