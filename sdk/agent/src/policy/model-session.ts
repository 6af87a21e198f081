import { AgentGymError, escapeOutput, type PolicySpec } from '@agentgym/contract'
import { actionOutputNames, checkModelStructure, STATE_INPUT, STATE_OUTPUT, stateSize } from '@agentgym/contract/model'
import { distributionSize, gaussianSize } from './distribution-columns.ts'
import { localModelLimits } from './local-model-limits.ts'
import { type ExecutionProvider, type FloatTensor, loadSession, type OnnxSession, tensor } from './onnx-session.ts'

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

export type ModelSessionOptions = {
  batch: number
  executionProvider?: ExecutionProvider
  /** False for what the walk has written in another process, and for the trainer's own export. */
  walk?: boolean
}

/** A loaded model.onnx, on which sessions for batches of any size can be opened. */
export type LoadedModel = { readonly spec: PolicySpec; readonly session: OnnxSession }

/**
 * Loads an exported model.onnx, which may come from anyone: it is walked here, and ONNX Runtime sees only the bytes
 * that the walk has written. Fails with a code `model_…`; what ONNX Runtime itself refuses is `model_load_failed`.
 */
export function loadModel(
  bytes: Uint8Array,
  spec: PolicySpec,
  options: Omit<ModelSessionOptions, 'batch'>,
): LoadedModel {
  const { executionProvider = 'cpu', walk = true } = options
  const model = walk ? checkModelStructure(bytes, { policy: spec }, localModelLimits) : bytes
  return { spec, session: asModelFailure('model_load_failed', () => loadSession(model, executionProvider)) }
}

/** A session with a model of its own: `loadModel` and `openBatch`. */
export function loadModelSession(bytes: Uint8Array, spec: PolicySpec, options: ModelSessionOptions): PolicySession {
  return openBatch(loadModel(bytes, spec, options), options.batch)
}

/**
 * A session of a loaded model for batches of one size; to dispose of it disposes of the model. A failing run is
 * `model_run_failed`. `logStd` is known after the first run.
 */
export function openBatch({ spec, session }: LoadedModel, batch: number): PolicySession {
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

export type SessionState = { now: Float32Array; next: Float32Array }

/** The tensors of a policy's memory; null where it has none. */
export function addState(
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

export function runner(
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

export function rowSize(spec: PolicySpec): number {
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
