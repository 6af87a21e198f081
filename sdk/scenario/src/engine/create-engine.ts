import { definitionFault } from './describe-scenario.ts'
import type { Engine } from './engine.ts'
import { assertHost } from './engine-fault.ts'
import { type EngineOptions, type EnvironmentBuffers, MAX_METRICS } from './environment-buffers.ts'
import { isInteger, lengthOfTypedArray } from './primordials.ts'
import { readCallbacks, type ScenarioCallbacks, type ScenarioDescription } from './read-definition.ts'
import { VectorEngine } from './vector-engine.ts'

function assertBuffers(buffers: EnvironmentBuffers, environments: number, { sizes }: ScenarioDescription): void {
  const fits = (array: object, columns: number): void =>
    assertHost(lengthOfTypedArray(array) === environments * columns, 'a buffer does not fit the scenario')
  fits(buffers.actions, sizes.action)
  fits(buffers.observations, sizes.observation)
  fits(buffers.finalObservations, sizes.observation)
  fits(buffers.rewards, 1)
  fits(buffers.flags, 1)
  fits(buffers.masks, sizes.mask)
  fits(buffers.episodeReturns, 1)
  fits(buffers.episodeLengths, 1)
  fits(buffers.episodeNumbers, 1)
  fits(buffers.metrics, MAX_METRICS)
}

/**
 * Makes the engine of a scenario whose `description` came from `describeScenario`. The callbacks are read once more
 * from `definition`; the spaces, limits and sizes are those of `description`.
 */
export function createEngine(
  definition: unknown,
  description: ScenarioDescription,
  options: EngineOptions,
  buffers: EnvironmentBuffers,
): Engine {
  const { environments, seed, plan, firstEnvironment = 0 } = options
  assertHost(isInteger(environments) && environments > 0, 'environments must be a positive integer')
  assertHost(isInteger(seed) && seed >= 0 && seed <= 0xffffffff, 'a seed is an unsigned 32-bit integer')
  assertHost(plan.split === 'train' || firstEnvironment === 0, 'an evaluation is played by one engine')
  const groupSize = plan.split === 'train' ? (plan.groupSize ?? 1) : 1
  assertHost(isInteger(groupSize) && groupSize > 0, 'a group has one environment at least')
  assertBuffers(buffers, environments, description)
  let callbacks: ScenarioCallbacks
  try {
    callbacks = readCallbacks(definition)
  } catch (thrown) {
    throw definitionFault(thrown)
  }
  assertHost((callbacks.actionMask !== null) === description.masked, 'the description is that of another scenario')
  return new VectorEngine(callbacks, description, options, buffers)
}
