import type { ScenarioLogs } from '@agentgym/contract'
import { printable, scenarioDescriptionSchema } from '@agentgym/playing'
import { placeOf } from './board.ts'
import { scenarioError } from './scenario-failure.ts'
import type { ScenarioDescription, ScenarioIdentity } from './vector-environment.ts'

/** Takes the description that came out of the isolate as what it is: text from a stranger. */
export function readDescription(identity: ScenarioIdentity, text: string): ScenarioDescription {
  try {
    return scenarioDescriptionSchema.parse(JSON.parse(text))
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
