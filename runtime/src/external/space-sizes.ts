import type { SpaceDescription } from '@agentgym/contract'
import { describeScenario, EngineFault } from '@agentgym/scenario/engine'
import type { ScenarioDescription, ScenarioIdentity } from '../sandbox/vector-environment.ts'
import { externalError } from './external-failure.ts'

/** Where the environment has no time limit, or does not say it. */
export const NO_TIME_LIMIT = 1e9

/**
 * The spaces of a process of the user's as the description of a scenario: checked by the engine's own rules, with the sizes
 * of the rows. Throws `environment_invalid`, which names the space that cannot be trained on.
 */
export function describeSpaces(
  identity: ScenarioIdentity,
  spaces: { observation: SpaceDescription; action: SpaceDescription },
  { maxSteps, masked }: { maxSteps: number | null; masked: boolean },
): ScenarioDescription {
  const unused = () => undefined
  try {
    return describeScenario({
      ...spaces,
      maxSteps: maxSteps ?? NO_TIME_LIMIT,
      ...{ reset: unused, step: unused, observe: unused },
      ...(masked ? { actionMask: unused } : {}),
    })
  } catch (fault) {
    if (!(fault instanceof EngineFault)) throw fault
    const what = `its spaces cannot be trained on: ${fault.message.replace(/\.$/, '')}`
    throw externalError(identity, {
      code: 'environment_invalid',
      what,
      hint: 'Observations are box, discrete, multiDiscrete, text or a dict of those; actions the same without text.',
    })
  }
}
