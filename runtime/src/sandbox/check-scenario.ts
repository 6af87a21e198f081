import { readFileSync } from 'node:fs'
import path from 'node:path'
import {
  AgentGymError,
  type CheckReport,
  type SampleEpisode,
  type ScenarioLogs,
  sampleEpisodeSchema,
} from '@agentgym/contract'
import { type BuiltScenario, identityOf, loadScenario, readBundle } from './build-scenario.ts'
import {
  type Check,
  type CheckId,
  type CheckJob,
  type CheckMessage,
  checkIds,
  faultMessage,
} from './checks/check-messages.ts'
import { COMPARED_ENVIRONMENTS, type ComparedEpisodes, partedAt, readCompared } from './checks/compared-episodes.ts'
import { diffScenarios } from './inspection/run-inspection.ts'
import { describeChange } from './inspection/version-changes.ts'
import type { JobLimits } from './limits.ts'
import { readScenarioPackage } from './read-scenario-package.ts'
import { harnessSource } from './scenario-code.ts'
import { locateFault } from './source-place.ts'
import { superviseJob } from './supervisor.ts'
import { checkTypes } from './type-check.ts'

export type CheckOptions = {
  /** Called with every check as soon as it is known. */
  onCheck?: (check: Check) => void
  /** Called with an episode of random actions, if one could be written down. */
  onSample?: (episode: SampleEpisode) => void
  /** Takes what the scenario logs. Its process may have been taken over: print the texts escaped. */
  onLogs?: (logs: ScenarioLogs) => void
  limits?: Partial<JobLimits>
  signal?: AbortSignal
  /**
   * Throws `training_failed` instead of reporting it: for those who judge the scenario, a process that could not be
   * started or made no sense is no fault of it.
   */
  throwOwnFailures?: boolean
  /** How long an episode may take to end, alone; 30 s if absent. */
  episodeMs?: number
  /**
   * The published version that a patch release follows; null where there is none. Left out, versions are not compared: the
   * server does that.
   */
  previous?: BuiltScenario | null
  /** Type-checks the folder's TypeScript, which is read and never run. */
  types?: boolean
  /** Checks the bundle that lies in the folder, and never makes one: for packages of strangers. */
  bundled?: boolean
}

/**
 * Checks a scenario folder the way Gymnasium's `env_checker` checks an environment: each check says what was seen, and
 * a failed one how to mend it. The scenario runs in a supervised process; this always returns. What comes after a
 * failed check is reported as not run.
 *
 * Throws `file_not_found` for a folder that does not exist, and `training_cancelled`.
 */
export async function checkScenario(folder: string, options: CheckOptions = {}): Promise<CheckReport> {
  const progress = new CheckProgress(options.onCheck)
  const scenario = await buildChecked(folder, progress, options.bundled ?? false)
  if (scenario !== undefined) {
    const message = 'not type-checked here: `agentgym scenario check` does that'
    progress.add(options.types ? await checkTypes(scenario) : { id: 'types', ok: true, message })
    await runChecked(scenario, progress, options)
  }
  const { name, version } = scenario?.package ?? readNames(folder)
  return progress.report(name, version)
}

async function buildChecked(
  folder: string,
  progress: CheckProgress,
  bundled: boolean,
): Promise<BuiltScenario | undefined> {
  try {
    progress.begin('manifest')
    const manifest = readScenarioPackage(folder)
    progress.pass('manifest', `${manifest.name}@${manifest.version}: ${manifest.agentgym.title}`)
    progress.begin('bundle')
    const scenario = bundled ? readBundle(folder) : await loadScenario(folder)
    const kilobytes = (Buffer.byteLength(scenario.source) / 1024).toFixed(1)
    progress.pass('bundle', `${kilobytes} KiB, sha256 ${scenario.hash.slice(0, 12)}`)
    return scenario
  } catch (error) {
    if (!(error instanceof AgentGymError) || progress.running === undefined) throw error
    if (error.code === 'file_not_found' && progress.running === 'manifest') throw error
    progress.fail(progress.running, error)
    return undefined
  }
}

async function runChecked(scenario: BuiltScenario, progress: CheckProgress, options: CheckOptions): Promise<void> {
  const identity = identityOf(scenario)
  const job: CheckJob = {
    source: scenario.source,
    identity,
    harness: await harnessSource(),
    success: scenario.package.agentgym.success,
    view: scenario.package.agentgym.view ?? null,
    episodeMs: options.episodeMs ?? 30_000,
    comparedSteps: null,
  }
  const run = async (part: Partial<CheckJob>, otherSizes: boolean): Promise<ComparedEpisodes | undefined> => {
    let compared: ComparedEpisodes | undefined
    await superviseJob({
      entry: new URL('./checks/check.process.ts', import.meta.url),
      job: { ...job, ...part },
      identity,
      otherSizes,
      limits: options.limits,
      signal: options.signal,
      onMessage: (received) => {
        const message = received as CheckMessage
        if (message.kind === 'running') progress.begin(message.id)
        else if (message.kind === 'check') progress.add(message.check)
        else if (message.kind === 'failed') progress.fail(message.id, locate(new AgentGymError(message.report)))
        else if (message.kind === 'compared') compared = readCompared(message.played)
        else if (message.kind === 'logs') options.onLogs?.(message.logs)
        else takeSample(message.episode, options)
      },
    })
    return compared
  }
  const locate = (error: AgentGymError) => locateFault(error, scenario.sourceMap)
  progress.begin('loads')
  try {
    const first = await run({}, false)
    // Without it, a check has failed and is in the report.
    if (first === undefined) return
    const second = await run({ comparedSteps: first.steps }, true)
    if (second === undefined) return
    progress.add(compareProcesses(first, second))
    progress.begin('version')
    progress.add(await checkVersion(scenario, options))
  } catch (error) {
    if (!(error instanceof AgentGymError) || error.code === 'training_cancelled') throw error
    if (options.throwOwnFailures && error.code === 'training_failed') throw error
    progress.fail(progress.running ?? 'loads', locate(error))
  }
}

/** A patch release plays like the version before it. */
async function checkVersion(scenario: BuiltScenario, options: CheckOptions): Promise<Check> {
  const id = 'version'
  const { previous, limits, signal } = options
  const { version } = scenario.package
  if (previous === undefined) {
    return { id, ok: true, message: 'not compared with a published version: publishing does that for patch releases' }
  }
  if (previous === null) {
    const line = version.split('.').slice(0, 2).join('.')
    return { id, ok: true, message: `no earlier ${line}.x is published, so there is nothing to compare with` }
  }
  const before = previous.package.version
  const compared = await diffScenarios(previous, scenario, { limits, signal }).catch((error: unknown) => {
    if (!(error instanceof AgentGymError) || error.data.version !== before) throw error
    return error
  })
  if (compared instanceof AgentGymError) {
    return { id, ok: true, warning: true, message: `not compared: ${before} does not play here. ${compared.message}` }
  }
  const { changes, ok, compared_steps: steps } = compared
  if (ok) return { id, ok, message: `${steps} steps are the same as in ${before}` }
  const shown = changes.slice(0, 5).map(describeChange).join('; ')
  const command = `agentgym scenario diff ${scenario.package.name}@${before} .`
  return {
    ...{ id, ok },
    message: `${version} is a patch of ${before}, and plays differently: ${shown}. A patch release leaves every trajectory the same: publish this as a minor version, or a major one if spaces changed. Compare them with \`${command}\`.`,
  }
}

/** Whether a second process, with another stack and heap, played the same. */
function compareProcesses(first: ComparedEpisodes, second: ComparedEpisodes): Check {
  const id = 'processes'
  const { steps, episodes } = first
  const parted = partedAt(first.hashes, second.hashes)
  if (parted === undefined) {
    const played = `${steps} steps of ${COMPARED_ENVIRONMENTS} environments (${episodes} whole episodes)`
    return { id, ok: true, message: `${played} are the same in two processes with different stack and heap sizes` }
  }
  const message = `Two processes with different stack and heap sizes play different episodes, from step ${parted.step} of environment ${parted.environment} on. Do not catch stack overflows, and bound every recursion: how deep it may go depends on the machine.`
  return { id, ok: false, message }
}

/** An episode without which a scenario is as good: what does not fit the schema is left out. */
function takeSample(episode: unknown, { onSample }: CheckOptions): void {
  const sample = sampleEpisodeSchema.safeParse(episode)
  if (sample.success) onSample?.(sample.data)
}

/** Collects checks in their fixed order, whatever order they become known in. */
class CheckProgress {
  running: CheckId | undefined
  readonly #onCheck: ((check: Check) => void) | undefined
  readonly #known = new Map<string, Check>()

  constructor(onCheck: ((check: Check) => void) | undefined) {
    this.#onCheck = onCheck
  }

  begin(id: CheckId): void {
    this.running = id
  }

  pass(id: CheckId, message: string): void {
    this.add({ id, ok: true, message })
  }

  fail(id: CheckId, error: AgentGymError): void {
    const { frame } = error.data
    const message = faultMessage(error.toReport())
    this.add({ id, ok: false, message, ...(typeof frame === 'string' ? { frame } : {}) })
  }

  add(check: Check): void {
    this.#known.set(check.id, check)
    this.#onCheck?.(check)
  }

  report(name: string, version: string): CheckReport {
    const failed = [...this.#known.values()].find(({ ok }) => !ok)
    for (const id of checkIds) {
      if (!this.#known.has(id))
        this.add({ id, ok: false, message: `not run: ${failed?.id ?? 'an earlier check'} failed` })
    }
    const checks = checkIds.flatMap((id) => this.#known.get(id) ?? [])
    return { ok: checks.every(({ ok }) => ok), name, version, checks }
  }
}

/** Name and version for the report of a package.json that is not valid, as far as it has them. */
function readNames(folder: string): { name: string; version: string } {
  try {
    const manifest: unknown = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'))
    const { name, version } = manifest as Record<string, unknown>
    return { name: typeof name === 'string' ? name : '', version: typeof version === 'string' ? version : '' }
  } catch {
    return { name: path.basename(path.resolve(folder)), version: '' }
  }
}
