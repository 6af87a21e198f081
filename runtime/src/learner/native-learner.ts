import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { AgentGymError, type ErrorCode, errorCatalogue, type PolicySpec } from '@agentgym/contract'
import type { ParameterLayout } from '../policy/parameter-layout.ts'
import type { GradientPath, Minibatch, RolloutSegment, Update, UpdateMetrics } from './learner-types.ts'

/** The class that the C++ addon exports; runtime/learner/src/binding.cc is its other side. */
export interface NativeLearner {
  weights(): Float32Array
  setWeights(weights: Float32Array): void
  setReference(weights: Float32Array): void
  forward(observations: Float32Array, batch: number): { distribution: Float32Array; values: Float32Array }
  update(rollout: RolloutSegment[], update: Update): Promise<UpdateMetrics>
  advantages(
    rollout: RolloutSegment[],
    update: Update,
  ): { values: Float32Array; advantages: Float32Array; returns: Float32Array }
  gradient(minibatch: Minibatch, update: Update, path: GradientPath): Float32Array
  state(): Uint8Array
  setState(state: Uint8Array): void
  dispose(): void
}

export type NativeOptions = { seed: number; path: 'autograd' | 'fused'; cuda: boolean; threads: number }

type Addon = {
  NativeLearner: new (spec: PolicySpec, layout: ParameterLayout, options: NativeOptions) => NativeLearner
  libtorchVersion: string
}

const addonFile = fileURLToPath(new URL('../../learner/build/agentgym_learner.node', import.meta.url))

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
        hint: 'build it with: sh runtime/learner/build.sh (npm test and npm run demo do so by themselves)',
        data: { file },
      },
      { cause: error },
    )
  }
}

/** An error of the addon that carries a code of the catalogue becomes an AgentGymError; anything else is a bug as it is. */
export function translateError(error: unknown): unknown {
  if (!(error instanceof Error) || !('code' in error) || !isErrorCode(error.code)) return error
  const data = 'data' in error && typeof error.data === 'object' ? { ...error.data } : {}
  return new AgentGymError({ code: error.code, message: error.message, data }, { cause: error })
}

function isErrorCode(code: unknown): code is ErrorCode {
  return typeof code === 'string' && Object.hasOwn(errorCatalogue, code)
}
