import { AgentGymError, type PolicySpec } from '@agentgym/contract'
import type { RolloutSegment } from '../learner/learner-types.ts'
import type { ScenarioDescription } from '../sandbox/vector-environment.ts'

/** Of one worker. Pages that no episode is long enough to touch cost nothing, but addresses do. */
const MAX_SEGMENT_BYTES = 2 ** 33

/**
 * Shared memory for one worker's rollouts, made once; every rollout overwrites it. With `episodes`, for one episode of
 * each environment. Throws `config_invalid` where it would be more than a process can address well.
 */
export function allocateSegment(
  description: Pick<ScenarioDescription, 'sizes' | 'masked'>,
  spec: PolicySpec,
  shape: { steps: number; environments: number; episodes?: boolean },
): RolloutSegment {
  const { sizes, masked } = description
  const { steps, environments, episodes = false } = shape
  const rows = steps * environments
  const floats = (length: number) => new Float32Array(new SharedArrayBuffer(length * 4))
  const bytes = (length: number) => new Uint8Array(new SharedArrayBuffer(length))
  const actionSize = spec.action.reduce((sum, leaf) => sum + leaf.size, 0)
  assertAffordable(rows * (8 * sizes.observation + 4 * actionSize + sizes.mask + 9), steps, environments)
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
    lengths: episodes ? new Int32Array(new SharedArrayBuffer(environments * 4)) : null,
  }
}

function assertAffordable(bytes: number, steps: number, environments: number): void {
  if (bytes <= MAX_SEGMENT_BYTES) return
  throw new AgentGymError({
    code: 'config_invalid',
    message: `a rollout of ${steps} steps in ${environments} environments needs ${(bytes / 2 ** 30).toFixed(1)} GiB in one rollout worker`,
    hint: 'Use fewer environments (GRPO: groups × group_size), shorter rollouts or episodes, or more rollout_workers.',
    data: { field: 'environments', bytes },
  })
}
