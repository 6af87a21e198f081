import { describeThrown } from './describe-value.ts'
import { EngineFault } from './engine-fault.ts'
import { readDefinition, type ScenarioDescription } from './read-definition.ts'

/** The fault for what was thrown while a definition was read: by the check, or by a getter of the author's. */
export function definitionFault(thrown: unknown): EngineFault {
  const { message, stack } = describeThrown(thrown)
  return new EngineFault(
    'scenario_invalid',
    message,
    '',
    { phase: 'define', environment: 0, step: 0, episode: 0 },
    stack,
  )
}

/**
 * Checks the default export of a scenario's bundle and describes it. Throws an EngineFault `scenario_invalid` whose
 * message names the field, what is wrong and how to mend it.
 */
export function describeScenario(definition: unknown): ScenarioDescription {
  try {
    return readDefinition(definition)
  } catch (thrown) {
    throw definitionFault(thrown)
  }
}
