import type { SampleEpisode, ScenarioView } from '@agentgym/contract'
import { EpisodeSampler } from '../episode-sampler.ts'
import type { SandboxedEnvironment } from '../sandboxed-environment.ts'
import { RandomActions } from './random-actions.ts'

/** An episode of random legal actions for pictures, or its first two seconds; null where it cannot be written down. */
export function sampleRandomly(environment: SandboxedEnvironment, view: ScenarioView | null): SampleEpisode | null {
  const actions = new RandomActions(environment.description, 1)
  const sampler = new EpisodeSampler(environment, { policy: 'random', view })
  const endMs = performance.now() + 2_000
  environment.reset()
  while (!sampler.done) {
    actions.fill(environment.buffers)
    sampler.before()
    environment.step()
    sampler.after()
    if (performance.now() > endMs) sampler.cut()
  }
  return sampler.episode()
}
