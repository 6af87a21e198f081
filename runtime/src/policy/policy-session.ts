import { AgentGymError, type PolicySpec } from '@agentgym/contract'
import { actionOutputNames, checkModelStructure, STATE_INPUT, STATE_OUTPUT, stateSize } from '@agentgym/contract/model'
import { TERMINATED, TRUNCATED } from '@agentgym/scenario/engine'
import { escapeOutput } from '../sandbox/escape-output.ts'
import { localModelLimits } from './local-model-limits.ts'
import { type ExecutionProvider, type FloatTensor, loadSession, type OnnxSession, tensor } from './onnx-session.ts'
import { distributionSize, gaussianSize } from './parameter-layout.ts'
import {
  logDeviations,
  ROLLOUT_DISTRIBUTION,
  ROLLOUT_INPUT,
  ROLLOUT_NEXT_STATE,
  ROLLOUT_STATE,
  ROLLOUT_VALUE,
  rolloutModel,
} from './policy-graph.ts'

/** A policy that acts on whole batches, synchronously; every array is made once and overwritten by each `run`. */
export interface PolicySession {
  readonly spec: PolicySpec
  readonly batch: number
  /**
   * [batch, distribution row]: logits of categorical leaves and means of boxes, in the order of the leaves; then, of a squashed
   * Gaussian, the log standard deviations of all boxes.
   */
  readonly distribution: Float32Array
  /** [batch]; in the reward's own units. Null if not requested. */
  readonly values: Float32Array | null
  /**
   * [batch, state], what a policy with memory remembers; null for one without. `run` reads it and leaves the next one in it.
   * Zeros begin an episode.
   */
  readonly state: Float32Array | null
  /**
   * log standard deviation of every box column, in the action's own units; empty where no leaf is a box, or the distribution
   * row has them.
   */
  readonly logStd: Float32Array
  /** Reads [batch, observation row]. */
  run(observations: Float32Array): void
  dispose(): void
}

export interface RolloutSession extends PolicySession {
  /** Takes the flat weight buffer in the order of `parameterLayout`. */
  setWeights(flat: Float32Array): void
}

/** Forgets the episodes that ended in some rows: `flags` is the engine's, one a row. */
export function forgetEnded({ state, batch }: PolicySession, flags: Uint8Array): void {
  if (state === null) return
  const size = state.length / batch
  for (let row = 0; row < flags.length; row++) {
    if ((flags[row] & (TERMINATED | TRUNCATED)) !== 0) state.fill(0, row * size, (row + 1) * size)
  }
}

/**
 * ONNX Runtime multiplies four rows or more at once in one order of additions, and one to three that are left over in another,
 * which rounds differently. Rollouts fill up to whole blocks, so a row has the same bits in every batch, and what an
 * environment plays does not depend on the number of rollout workers. Measured with AVX-512.
 */
const ROW_BLOCK = 4

/** A session whose weights can be changed between runs: what rollouts and the trainer's evaluations use. */
export function createPolicySession(
  spec: PolicySpec,
  options: { batch: number; executionProvider?: ExecutionProvider; values?: boolean },
): RolloutSession {
  const { batch, executionProvider = 'cpu', values: wantsValues = false } = options
  const { bytes, weights } = rolloutModel(spec, wantsValues)
  const session = loadSession(bytes, executionProvider)
  const rows = Math.ceil(batch / ROW_BLOCK) * ROW_BLOCK
  const observations = tensor([rows, rowSize(spec)])
  const distribution = tensor([rows, distributionSize(spec)])
  const values = wantsValues ? tensor([rows]) : null
  const feeds: Record<string, FloatTensor> = { [ROLLOUT_INPUT]: observations }
  for (const { name, dims, data } of weights) feeds[name] = tensor(dims, data)
  const fetches: Record<string, FloatTensor> = { [ROLLOUT_DISTRIBUTION]: distribution }
  if (values !== null) fetches[ROLLOUT_VALUE] = values
  const logStd = new Float32Array(gaussianSize(spec))
  const units = (spec.memory?.units ?? 0) * (wantsValues ? 2 : 1)
  const state = addState(feeds, fetches, [ROLLOUT_STATE, ROLLOUT_NEXT_STATE], [rows, units])
  const run = runner(session, feeds, fetches, state)
  return {
    spec,
    batch,
    distribution: distribution.data.subarray(0, batch * distributionSize(spec)),
    values: values?.data.subarray(0, batch) ?? null,
    state: state?.now.subarray(0, batch * units) ?? null,
    logStd,
    setWeights(flat) {
      for (const weight of weights) weight.fill(flat)
      logStd.set(logDeviations(spec, flat))
    },
    run(given) {
      // Whole blocks are read where they lie; the binding takes shared memory too.
      if (rows === batch) observations.data = given
      else observations.data.set(given)
      run()
    },
    dispose: () => session.dispose(),
  }
}

export type ModelSessionOptions = {
  batch: number
  executionProvider?: ExecutionProvider
  /** False for what the walk has written in another process, and for the trainer's own export. */
  walk?: boolean
}

/**
 * A session of an exported model.onnx, which may come from anyone: it is walked here, and ONNX Runtime sees only the bytes
 * that the walk has written. Fails with a code `model_…`. What ONNX Runtime itself refuses is `model_load_failed` or, in a run, `model_run_failed`.
 * `log_std` is known after the first run.
 */
export function loadModelSession(bytes: Uint8Array, spec: PolicySpec, options: ModelSessionOptions): PolicySession {
  const { batch, executionProvider = 'cpu', walk = true } = options
  const model = walk ? checkModelStructure(bytes, { policy: spec }, localModelLimits) : bytes
  const session = asModelFailure('model_load_failed', () => loadSession(model, executionProvider))
  const feeds: Record<string, FloatTensor> = {}
  for (const leaf of spec.observation) feeds[leaf.name] = tensor([batch, leaf.size])
  const values = tensor([batch])
  const fetches: Record<string, FloatTensor> = { value: values }
  const chosen = spec.action.filter(({ fixed }) => fixed === undefined)
  const outputs = chosen.map((leaf) => {
    const names = actionOutputNames(leaf)
    const size = leaf.kind === 'box' ? leaf.size : leaf.counts.reduce((a, b) => a + b, 0)
    const row = tensor([batch, size])
    fetches['logits' in names ? names.logits : names.mean] = row
    const logStd = 'logStd' in names ? tensor([batch, size]) : null
    if (logStd !== null && 'logStd' in names) fetches[names.logStd] = logStd
    return { leaf, size, row, logStd }
  })
  const distributionRow = distributionSize(spec)
  const distribution = new Float32Array(batch * distributionRow)
  const logStd = new Float32Array(gaussianSize(spec))
  const state = addState(feeds, fetches, [STATE_INPUT, STATE_OUTPUT], [batch, stateSize(spec)])
  const run = runner(session, feeds, fetches, state)
  return {
    spec,
    batch,
    distribution,
    values: values.data,
    state: state?.now ?? null,
    logStd,
    run(rows) {
      for (const leaf of spec.observation) {
        copyColumns(rows, rowSize(spec), leaf.offset, feeds[leaf.name].data, leaf.size, 0, leaf.size, batch)
      }
      asModelFailure('model_run_failed', run)
      for (const { leaf, size, row, logStd: deviations } of outputs) {
        copyColumns(row.data, size, 0, distribution, distributionRow, leaf.distributionOffset, size, batch)
        if (deviations === null) continue
        if (spec.head === 'squashed_gaussian') {
          const column = distributionRow / 2 + leaf.logStdOffset
          copyColumns(deviations.data, size, 0, distribution, distributionRow, column, size, batch)
        } else logStd.set(deviations.data.subarray(0, size), leaf.logStdOffset)
      }
    },
    dispose: () => session.dispose(),
  }
}

/** ONNX Runtime throws plain errors; of a stranger's model they are the model's fault. */
function asModelFailure<Result>(code: 'model_load_failed' | 'model_run_failed', act: () => Result): Result {
  try {
    return act()
  } catch (cause) {
    if (cause instanceof AgentGymError) throw cause
    const said = cause instanceof Error ? cause.message : 'no reason given'
    throw new AgentGymError(
      {
        code,
        message: `model.onnx: ONNX Runtime ${code === 'model_load_failed' ? 'refuses it' : 'could not run it'}: ${escapeOutput(said, 400)}`,
        hint: 'Export the policy again, as plain layers.',
        data: { file: 'model.onnx' },
      },
      { cause },
    )
  }
}

type SessionState = { now: Float32Array; next: Float32Array }

/** The tensors of a policy's memory; null where it has none. */
function addState(
  feeds: Record<string, FloatTensor>,
  fetches: Record<string, FloatTensor>,
  [input, output]: [string, string],
  dims: [number, number],
): SessionState | null {
  if (dims[1] === 0) return null
  const [now, next] = [tensor(dims), tensor(dims)]
  feeds[input] = now
  fetches[output] = next
  return { now: now.data, next: next.data }
}

function runner(
  session: OnnxSession,
  feeds: Record<string, FloatTensor>,
  fetches: Record<string, FloatTensor>,
  state: SessionState | null,
): () => void {
  return () => {
    session.run(feeds, fetches)
    state?.now.set(state.next)
  }
}

function rowSize(spec: PolicySpec): number {
  return spec.observation.reduce((sum, leaf) => sum + leaf.size, 0)
}

function copyColumns(
  from: Float32Array,
  fromRow: number,
  fromColumn: number,
  to: Float32Array,
  toRow: number,
  toColumn: number,
  columns: number,
  rows: number,
): void {
  for (let row = 0; row < rows; row++) {
    for (let i = 0; i < columns; i++) to[row * toRow + toColumn + i] = from[row * fromRow + fromColumn + i]
  }
}
