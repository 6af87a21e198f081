import { TERMINATED, TRUNCATED } from '@agentgym/scenario/engine'
import type { VectorEnvironment } from '../vector-environment.ts'
import { IdleActions } from './idle-actions.ts'

/** Returns of the policy that does nothing, of at most 100 episodes and one second. */
export function idleReturns(environment: VectorEnvironment): number[] {
  const { buffers, description, environments } = environment
  const policy = new IdleActions(description)
  const returns: number[] = []
  const endMs = performance.now() + 1_000
  environment.reset()
  while (returns.length < 100 && performance.now() < endMs) {
    policy.fill(buffers)
    environment.step()
    for (let row = 0; row < environments; row++) {
      if ((buffers.flags[row] & (TERMINATED | TRUNCATED)) !== 0) returns.push(buffers.episodeReturns[row])
    }
  }
  return returns
}
