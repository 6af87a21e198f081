import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ScenarioPackage } from '@agentgym/contract'
import type { BuiltScenario } from '../sandbox/build-scenario.ts'
import type { ScenarioDescription } from '../sandbox/vector-environment.ts'
import { LanguageForm } from './language/language-form.ts'
import { type HostOptions, ScenarioHost } from './scenario-host.ts'

/** A scenario as the server offers it. */
export type ServedEnvironment = {
  /** In paths and task APIs: the package's name without its scope, such as `cart-pole`. */
  name: string
  package: ScenarioPackage
  description: ScenarioDescription
  form: LanguageForm
  /** Its README, if the package has one. */
  readme: string | null
  host: ScenarioHost
}

/** Starts a scenario's first process. Rejects with an AgentGymError where it cannot be loaded. Close its `host` afterwards. */
export async function openEnvironment(scenario: BuiltScenario, options: HostOptions = {}): Promise<ServedEnvironment> {
  const host = await ScenarioHost.start(scenario, options)
  const file = join(scenario.folder, 'README.md')
  return {
    name: scenario.package.name.replace(/^@[^/]*\//, ''),
    package: scenario.package,
    description: host.description,
    form: new LanguageForm(host.description, scenario.package),
    readme: existsSync(file) ? readFileSync(file, 'utf8') : null,
    host,
  }
}
