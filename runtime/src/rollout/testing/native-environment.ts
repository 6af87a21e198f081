import assert from 'node:assert'
import {
  allocateBuffers,
  createEngine,
  DONE,
  describeScenario,
  type EngineOptions,
  type Progress,
} from '@agentgym/scenario/engine'
import type { VectorEnvironment } from '../../sandbox/vector-environment.ts'

/**
 * The engine called directly, in this realm, without isolate, checks or limits: for trusted scenarios in tests, and as
 * what the sandbox is measured against.
 */
export function createNativeEnvironment(definition: unknown, options: EngineOptions): VectorEnvironment {
  const description = describeScenario(definition)
  const buffers = allocateBuffers(options.environments, description.sizes)
  const engine = createEngine(definition, description, options, buffers)
  const done = (progress: Progress) => assert.equal(progress, DONE, 'a native environment cannot wait for promises')
  return {
    environments: options.environments,
    description,
    buffers,
    replays: true,
    reset: (episode) => done(engine.reset(episode)),
    step: () => done(engine.step()),
    metricNames: () => engine.metricNames(),
    restore: (environment, episode, actions) => done(engine.restore(environment, episode, actions)),
    dispose: () => {},
  }
}
