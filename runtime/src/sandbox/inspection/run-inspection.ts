import { AgentGymError, type ErrorReport, type SuccessCriteria } from '@agentgym/contract'
import type { z } from 'zod'
import { type BuiltScenario, identityOf } from '../build-scenario.ts'
import type { JobLimits } from '../limits.ts'
import { harnessSource } from '../scenario-code.ts'
import { locateFault } from '../source-place.ts'
import { superviseJob } from '../supervisor.ts'
import type { ScenarioIdentity } from '../vector-environment.ts'
import { type DoctorReport, doctorReportSchema } from './doctor-report.ts'
import { locateProfile, rawProfileSchema, type ScenarioProfile } from './profile-report.ts'
import { recordingSchema } from './record-trajectories.ts'
import { compareVersions, type VersionChanges } from './version-changes.ts'

export type Inspection =
  | { kind: 'doctor'; success: SuccessCriteria; budgetMs: number }
  | { kind: 'record' }
  | { kind: 'profile' }

export type InspectionJob = { source: string; identity: ScenarioIdentity; harness: string; inspection: Inspection }

/** From the inspecting process. */
export type InspectionMessage = { kind: 'found'; result: unknown } | { kind: 'failed'; report: ErrorReport }

export type InspectionOptions = { limits?: Partial<JobLimits>; signal?: AbortSignal }

/** Runs an inspection in a supervised process; what it sends is checked against `schema`. Throws the scenario's faults. */
async function runInspection<Result>(
  scenario: BuiltScenario,
  inspection: Inspection,
  schema: z.ZodType<Result>,
  { limits, signal }: InspectionOptions,
): Promise<Result> {
  const identity = identityOf(scenario)
  const job: InspectionJob = { source: scenario.source, identity, harness: await harnessSource(), inspection }
  let sent: unknown
  let failed: ErrorReport | undefined
  try {
    await superviseJob({
      ...{ entry: new URL('./inspect.process.ts', import.meta.url), job, identity, limits, signal },
      onMessage: (received) => {
        const message = received as InspectionMessage
        if (message.kind === 'failed') failed = message.report
        else sent = message.result
      },
    })
    if (failed !== undefined) throw new AgentGymError(failed)
  } catch (error) {
    throw locateFault(error, scenario.sourceMap)
  }
  const result = schema.safeParse(sent)
  if (result.success) return result.data
  throw new AgentGymError({
    code: 'scenario_crashed',
    message: `Scenario ${identity.name}@${identity.version}: its process sent no valid result.`,
    hint: 'The scenario changed the process that runs it. Leave built-ins as they are.',
    data: { scenario: identity.name, version: identity.version },
  })
}

const BUDGET_MS = 15_000

/** Looks for degenerate tasks and reward hacking, with players that need no training. Throws the scenario's faults. */
export function diagnoseScenario(scenario: BuiltScenario, options: InspectionOptions = {}): Promise<DoctorReport> {
  const { success } = scenario.package.agentgym
  return runInspection(scenario, { kind: 'doctor', success, budgetMs: BUDGET_MS }, doctorReportSchema, options)
}

/** Compares two versions of a scenario under the same seeds and actions. Throws the faults of either. */
export async function diffScenarios(
  before: BuiltScenario,
  after: BuiltScenario,
  options: InspectionOptions = {},
): Promise<VersionChanges> {
  const record = async (scenario: BuiltScenario) => ({
    scenario,
    recording: await runInspection(scenario, { kind: 'record' }, recordingSchema, options),
  })
  return compareVersions(await record(before), await record(after))
}

/** Where a scenario spends its time and memory, by phase and function. Throws the scenario's faults. */
export async function profileScenario(
  scenario: BuiltScenario,
  options: InspectionOptions = {},
): Promise<ScenarioProfile> {
  const profile = await runInspection(scenario, { kind: 'profile' }, rawProfileSchema, options)
  return locateProfile(profile, scenario.sourceMap)
}
