import { type BuiltScenario, identityOf } from './build-scenario.ts'
import { harnessSource } from './harness-source.ts'
import type { ScenarioIdentity } from './vector-environment.ts'

/** A scenario as a job gets it: its bundle, its name, and the harness's script. */
export type ScenarioCode = { source: string; identity: ScenarioIdentity; harness: string }

/** What a job needs of a scenario. To be called by the parent: a locked-down job cannot read the harness. */
export async function scenarioCode(scenario: BuiltScenario): Promise<ScenarioCode> {
  return { source: scenario.source, identity: identityOf(scenario), harness: await harnessSource() }
}
