import {
  addState,
  distributionSize,
  type ExecutionProvider,
  type FloatTensor,
  gaussianSize,
  loadSession,
  type PolicySession,
  rowSize,
  runner,
  tensor,
} from '@agentgym/agent/engine'
import type { PolicySpec } from '@agentgym/contract'
import { TERMINATED, TRUNCATED } from '@agentgym/scenario/engine'
import {
  logDeviations,
  ROLLOUT_DISTRIBUTION,
  ROLLOUT_INPUT,
  ROLLOUT_NEXT_STATE,
  ROLLOUT_STATE,
  ROLLOUT_VALUE,
  rolloutModel,
} from './policy-graph.ts'
import { buildPolicySpec } from './policy-spec.ts'

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

/**
 * Loads an execution provider's libraries, by a model of one weight; a job that is locked down could not. Throws
 * `execution_provider_unavailable` where it does not work.
 */
export function loadProvider(executionProvider: ExecutionProvider): void {
  createPolicySession(smallestPolicy, { batch: 1, executionProvider }).dispose()
}

const smallestPolicy = buildPolicySpec(
  { observation: { type: 'box', shape: [1], low: [-1], high: [1] }, action: { type: 'discrete', n: 2, start: 0 } },
  { hidden: [], activation: 'tanh', embedding: 1, normalizeObservation: false },
)

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
