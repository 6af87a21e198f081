import type { PolicySpec } from '@agentgym/contract'
import type { RolloutSegment } from '../learner/learner-types.ts'
import type { ScenarioDescription } from '../sandbox/vector-environment.ts'

/** Shared memory for one worker's rollouts, made once; every rollout overwrites it. */
export function allocateSegment(
  description: Pick<ScenarioDescription, 'sizes' | 'masked'>,
  spec: PolicySpec,
  steps: number,
  environments: number,
): RolloutSegment {
  const { sizes, masked } = description
  const rows = steps * environments
  const floats = (length: number) => new Float32Array(new SharedArrayBuffer(length * 4))
  const bytes = (length: number) => new Uint8Array(new SharedArrayBuffer(length))
  const actionSize = spec.action.reduce((sum, leaf) => sum + leaf.size, 0)
  return {
    steps,
    environments,
    observations: floats((rows + environments) * sizes.observation),
    finalObservations: floats(rows * sizes.observation),
    actions: floats(rows * actionSize),
    logProbabilities: floats(rows),
    rewards: floats(rows),
    flags: bytes(rows),
    masks: masked && sizes.mask > 0 ? bytes(rows * sizes.mask) : null,
  }
}
