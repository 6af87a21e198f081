import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { AgentGymError, type ErrorCode, errorCatalog, type PolicySpec } from '@agentgym/contract'
import type { ParameterLayout } from '../policy/parameter-layout.ts'
import type { Cuda } from './learner-device.ts'
import type {
  DqnUpdate,
  GradientPath,
  Minibatch,
  NativeRankHub,
  NativeRanks,
  RankPlace,
  RolloutSegment,
  SacGradients,
  SacUpdate,
  Sequences,
  Update,
  UpdateMetrics,
} from './learner-types.ts'

/** The class that the C++ addon exports; runtime/learner/src/binding.cc is its other side. */
export interface NativeLearner {
  weights(): Float32Array
  setWeights(weights: Float32Array): void
  startFrom(weights: Float32Array, observations: number): void
  setReference(weights: Float32Array): void
  forward(observations: Float32Array, batch: number): { distribution: Float32Array; values: Float32Array }
  forwardSequences(
    observations: Float32Array,
    batch: number,
    sequences: Sequences,
  ): { distribution: Float32Array; values: Float32Array; states: Float32Array }
  update(rollout: RolloutSegment[], update: Update): Promise<UpdateMetrics>
  advantages(
    rollout: RolloutSegment[],
    update: Update,
  ): { values: Float32Array; advantages: Float32Array; returns: Float32Array }
  gradient(minibatch: Minibatch, update: Update, path: GradientPath): Float32Array
  remember(rollout: RolloutSegment[], options: { capacity: number; normalizeObservation: boolean }): void
  remembered(): { steps: number; bytes: number }
  targets(update: DqnUpdate | SacUpdate): Float32Array
  sacGradients(minibatch: Minibatch, update: SacUpdate, path: GradientPath): SacGradients
  criticWeights(): Float32Array
  setCriticWeights(weights: Float32Array): void
  state(withReplay: boolean): Uint8Array
  setState(state: Uint8Array): void
  dispose(): void
}

type NativeOptions = {
  seed: number
  path: 'autograd' | 'fused'
  /** Number of a GPU, or `CPU`. */
  device: number
  threads: number
  /** One entry a column of the normalizer: 1 where statistics do not follow the observations. */
  fixed: Float32Array
  /** Of SAC's critics. */
  critics: ParameterLayout | null
  /** Of several processes that learn together; null: one learns alone. */
  ranks: NativeRanks | null
}

type Addon = {
  NativeLearner: new (spec: PolicySpec, layout: ParameterLayout, options: NativeOptions) => NativeLearner
  NativeRanks: new (descriptor: number, place: RankPlace) => NativeRanks
  NativeRankHub: new (ranks: number, severalHosts: boolean) => NativeRankHub
  /** Loads libtorch's engine, once a process. */
  loadAutograd(): void
  /** What libtorch can compute on; loads its engine. */
  cuda(): Cuda
  /** Makes a GPU's context, for which the driver reads files. */
  openDevice(device: number): void
}

const addonFile = fileURLToPath(new URL('../../learner/build/agentgym_learner.node', import.meta.url))
/** Not there in the package for npm, which has the learner of the server that it comes from. */
const buildScript = fileURLToPath(new URL('../../learner/build.sh', import.meta.url))

const howToBuild = 'build it with: sh runtime/learner/build.sh (npm test and npm run demo do so by themselves)'
const howToTrainElsewhere =
  'this installation has the learner for Linux with the kind of processor that its server has. Train on the server with --remote, or install agentgym from source.'

/** Loads the addon; fails with `setup_incomplete` where it was not built or cannot be loaded. */
export function loadAddon(file: string = addonFile): Addon {
  try {
    return createRequire(import.meta.url)(file)
  } catch (error) {
    const reason = error instanceof Error ? error.message.split('\n')[0] : String(error)
    throw new AgentGymError(
      {
        code: 'setup_incomplete',
        message: `the learner's addon cannot be loaded: ${reason}`,
        hint: existsSync(buildScript) ? howToBuild : howToTrainElsewhere,
        data: { file },
      },
      { cause: error },
    )
  }
}

/** Calls the addon; see `translateError`. */
export function translated<Result>(call: () => Result): Result {
  try {
    return call()
  } catch (error) {
    throw translateError(error)
  }
}

/** An error of the addon that carries a code of the catalog becomes an AgentGymError; anything else is a bug as it is. */
export function translateError(error: unknown): unknown {
  if (!(error instanceof Error) || !('code' in error) || !isErrorCode(error.code)) return error
  const data = 'data' in error && typeof error.data === 'object' ? { ...error.data } : {}
  return new AgentGymError({ code: error.code, message: error.message, data }, { cause: error })
}

function isErrorCode(code: unknown): code is ErrorCode {
  return typeof code === 'string' && Object.hasOwn(errorCatalog, code)
}
