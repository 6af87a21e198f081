import { createHash } from 'node:crypto'
import { parentPort } from 'node:worker_threads'
import { loadModelSession, type PolicySession, threefry2x32 } from '@agentgym/agent/engine'
import { AgentGymError, type ErrorReport, type ObservationLeaf, type PolicySpec } from '@agentgym/contract'

export type GoldenRequest = { policy: PolicySpec; model: Uint8Array }
export type GoldenReply =
  | { type: 'ready' }
  | { type: 'done'; outputHash: string }
  | { type: 'fault'; error: ErrorReport }
  | { type: 'bug'; message: string }

/**
 * Runs the golden batch twice, and its rows again in batches of other sizes; gives the SHA-256 (hex) of its outputs. The
 * caller has walked the model, or means not to.
 */
function runGoldenBatch({ policy, model }: GoldenRequest): string {
  const session = loadModelSession(model, policy, { batch: GOLDEN_ROWS, walk: false })
  const observations = goldenObservations(policy)
  const first = hashOutputs(session, observations)
  if (hashOutputs(session, observations) !== first)
    throw outputInvalid('gives other numbers when it sees the same observations again')
  for (const batch of OTHER_SIZES)
    compareRows(session, observations, loadModelSession(model, policy, { batch, walk: false }))
  session.dispose()
  return first
}

/**
 * Runs the first rows of `whole`'s batch in a smaller one, from `from` on: a row's outputs must not depend on the others.
 * Sums may round differently in batches of another size, so numbers are close, not equal.
 */
function compareRows(whole: PolicySession, observations: Float32Array, part: PolicySession): void {
  const outputs = ({ distribution, values, state }: PolicySession) => [distribution, values ?? none, state ?? none]
  const row = observations.length / whole.batch
  for (let from = 0; from + part.batch <= COMPARED_ROWS; from += part.batch) {
    const state = (whole.state?.length ?? 0) / whole.batch
    part.state?.set(goldenState(whole).subarray(from * state, (from + part.batch) * state))
    part.run(observations.subarray(from * row, (from + part.batch) * row))
    outputs(part).forEach((numbers, i) => {
      const width = numbers.length / part.batch
      const expected = outputs(whole)[i]
      const largest = expected.reduce((most, number) => Math.max(most, Math.abs(number)), 1)
      const differs = numbers.some((number, at) => !(Math.abs(number - expected[from * width + at]) <= CLOSE * largest))
      if (differs)
        throw outputInvalid(
          `gives other numbers for an observation in a batch of ${part.batch} than in one of ${whole.batch}`,
        )
    })
  }
  part.dispose()
}

/** SHA-256 over the distribution rows, log_std, values and next states of one run, as little-endian float32. */
function hashOutputs(session: PolicySession, observations: Float32Array): string {
  session.state?.set(goldenState(session))
  session.run(observations)
  const hash = createHash('sha256')
  for (const numbers of [session.distribution, session.logStd, session.values ?? none, session.state ?? none]) {
    const at = numbers.findIndex((number) => !Number.isFinite(number))
    if (at >= 0) throw outputInvalid(`gives ${numbers[at]} for an observation within its spaces`)
    hash.update(new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength))
  }
  return hash.digest('hex')
}

function outputInvalid(what: string): AgentGymError {
  return new AgentGymError({
    code: 'model_output_invalid',
    message: `model.onnx ${what}.`,
    hint: 'Train again with a lower learning rate, or with normalised observations.',
    data: { file: 'model.onnx' },
  })
}

if (parentPort !== null) {
  const port = parentPort
  const reply = (message: GoldenReply) => port.postMessage(message)
  port.on('message', (request: GoldenRequest) => {
    try {
      reply({ type: 'done', outputHash: runGoldenBatch(request) })
    } catch (error) {
      if (error instanceof AgentGymError) reply({ type: 'fault', error: error.toReport() })
      else reply({ type: 'bug', message: error instanceof Error ? (error.stack ?? error.message) : 'unknown' })
    }
  })
  reply({ type: 'ready' })
}

/** Rows of the golden batch. */
export const GOLDEN_ROWS = 64

/** Sizes in which rows are run again: one observation, as most who install an agent run it, and an odd number. */
const OTHER_SIZES = [1, 5]
const COMPARED_ROWS = 10
/** Of the largest number. */
const CLOSE = 1e-3

const none = new Float32Array(0)

/** What a policy with memory remembers in the golden batch: nothing in the first row, numbers within ±1 in the others. */
function goldenState({ state, batch }: PolicySession): Float32Array {
  const numbers = new Float32Array(state?.length ?? 0)
  const words = new Int32Array(2)
  for (let i = numbers.length / batch; i < numbers.length; i++) {
    threefry2x32(KEY[0], KEY[1], -1, i, words)
    numbers[i] = Math.fround((words[0] >>> 8) / 2 ** 23 - 1)
  }
  return numbers
}

/** Any fixed key: the rows are the same on every machine, for ever. */
const KEY = [0x601d, 0xba7c4] as const

/**
 * Observations [64, row] within the policy's spaces: the first row all zeros (an empty text), the second the lowest and
 * the third the highest of what is usual (±1 of a box), the others uniform: boxes within ±2, texts of every length.
 */
export function goldenObservations(spec: PolicySpec): Float32Array {
  const row = spec.observation.reduce((sum, leaf) => sum + leaf.size, 0)
  const rows = new Float32Array(GOLDEN_ROWS * row)
  const words = new Int32Array(2)
  for (let r = 1; r < GOLDEN_ROWS; r++) {
    for (const leaf of spec.observation) {
      // Of a text, so many tokens and then padding.
      const tokens = 1 + (r % leaf.size)
      for (let i = 0; i < leaf.size; i++) {
        threefry2x32(KEY[0], KEY[1], r, leaf.offset + i, words)
        const uniform = r === 1 ? 0 : r === 2 ? 1 - 2 ** -24 : (words[0] >>> 8) / 2 ** 24
        if (leaf.kind !== 'text' || i < tokens)
          rows[r * row + leaf.offset + i] = goldenNumber(leaf, i, uniform, r < 3 ? 1 : 2)
      }
    }
  }
  return rows
}

/** A number of a column's own range from one in [0, 1). Token 0 is padding, so that texts begin at 1. */
function goldenNumber({ kind, counts }: ObservationLeaf, column: number, uniform: number, bound: number): number {
  if (kind === 'box') return Math.fround(bound * (2 * uniform - 1))
  if (kind === 'text') return counts[0] > 1 ? 1 + Math.floor(uniform * (counts[0] - 1)) : 0
  return Math.floor(uniform * counts[column])
}
