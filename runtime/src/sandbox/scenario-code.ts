import { fileURLToPath } from 'node:url'
import * as esbuild from 'esbuild'
import { type BuiltScenario, identityOf } from './build-scenario.ts'
import type { ScenarioIdentity } from './vector-environment.ts'

/** A scenario as a job gets it: its bundle, its name, and the harness's script. */
export type ScenarioCode = { source: string; identity: ScenarioIdentity; harness: string }

/** What a job needs of a scenario. To be called by the parent: a locked-down job cannot read the harness. */
export async function scenarioCode(scenario: BuiltScenario): Promise<ScenarioCode> {
  return { source: scenario.source, identity: identityOf(scenario), harness: await harnessSource() }
}

/** Put in by the bundler of a deployment, whose folder has neither esbuild nor our packages. */
declare const AGENTGYM_HARNESS: string | undefined

export const deployedHarness = typeof AGENTGYM_HARNESS === 'string' ? AGENTGYM_HARNESS : undefined

let source: Promise<string> | undefined

/**
 * The script that runs first in every isolate: the hardening, the guest engine and the harness that joins them, as one
 * expression whose value is the harness's functions. Bundled once a process, by the parent: a job's process may neither
 * read files nor start esbuild.
 */
export function harnessSource(): Promise<string> {
  source ??= deployedHarness === undefined ? bundleHarness() : Promise.resolve(deployedHarness)
  return source
}

async function bundleHarness(): Promise<string> {
  const result = await esbuild.build({
    entryPoints: [fileURLToPath(import.meta.resolve('@agentgym/scenario/harness'))],
    bundle: true,
    write: false,
    format: 'cjs',
    platform: 'neutral',
    target: 'node24',
    charset: 'utf8',
    legalComments: 'none',
    logLevel: 'silent',
    tsconfigRaw: '{}',
  })
  // An expression: nothing of it becomes a global that a guest could see.
  return `(function () { 'use strict'; const module = { exports: {} }; ${result.outputFiles[0].text}
return module.exports.harness })()`
}
