import { AgentGymError, escapeOutput, type PolicySpec } from '@agentgym/contract'
import { checkModelStructure } from '@agentgym/contract/model'
import { batchTensors, type SessionState } from './batch-tensors.ts'
import { localModelLimits } from './local-model-limits.ts'
import { type ExecutionProvider, loadSession, type OnnxSession } from './onnx-session.ts'
import type { FloatTensor } from './tensors.ts'

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
  const tensors = batchTensors(spec, batch)
  const run = runner(session, tensors.feeds, tensors.fetches, tensors.memory)
  return {
    spec,
    batch,
    distribution: tensors.distribution,
    values: tensors.values,
    state: tensors.memory?.now ?? null,
    logStd: tensors.logStd,
    run(rows) {
      tensors.write(rows)
      asModelFailure('model_run_failed', run)
      tensors.read()
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
