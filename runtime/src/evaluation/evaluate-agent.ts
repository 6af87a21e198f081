import { isDeepStrictEqual } from 'node:util'
import { agentGymHome, readAgentWithModel } from '@agentgym/agent/engine'
import {
  type AgentEnvironment,
  AgentGymError,
  type AgentManifest,
  type Evaluation,
  type SampleEpisode,
  type ScenarioLogs,
  sampleEpisodeSchema,
  scenarioLogsSchema,
  type TaskOrder,
} from '@agentgym/contract'
import type { OpenedEnvironment } from '../external/opened-environment.ts'
import { type BuiltScenario, identityOf } from '../sandbox/build-scenario.ts'
import type { JobLimits } from '../sandbox/limits.ts'
import { scenarioCode } from '../sandbox/scenario-code.ts'
import { locateFault } from '../sandbox/source-place.ts'
import { superviseJob, threadEnvironment } from '../sandbox/supervisor.ts'
import type { EvaluationJob, EvaluationMessage } from './evaluation.process.ts'
import type { PlayedEvaluation } from './evaluator.ts'
import { recallScenario } from './scenario-store.ts'

export type EvaluateOptions = {
  /** Folder of the agent package. */
  agent: string
  /** The scenario; where absent, the bundle that this machine keeps by its hash. */
  scenario?: BuiltScenario
  /** The environment of an agent that was trained on no scenario; it stays the caller's to close. */
  environment?: OpenedEnvironment
  /** Held-out episodes; 100 if absent. */
  episodes?: number
  /** An integer below 2^53; 0 if absent, which is what training's final evaluation uses. */
  seed?: number
  /** `drawn` if absent. A claim without `tasks` was made in `numbered` order: see `taskOrderOf`. */
  taskOrder?: TaskOrder
  /** Folder of the bundles that this machine keeps; by default `AGENTGYM_HOME`. */
  home?: string
  signal?: AbortSignal
  limits?: Partial<JobLimits>
  /** Plays in a process with another stack and heap, which must give the same. */
  otherSizes?: boolean
  onProgress?(done: number, total: number): void
  /** Called with the first episode, if it could be written down. */
  onSample?(episode: SampleEpisode): void
  /** Takes what the scenario logs. Its process may have been taken over: print the texts escaped. */
  onLogs?(logs: ScenarioLogs): void
}

/** Plays held-out episodes with a trained agent in a supervised process. The same arguments give the same hash. */
export async function evaluateAgent(options: EvaluateOptions): Promise<Evaluation> {
  return (await playEvaluation(options)).evaluation
}

/** `evaluateAgent`, with the return of each episode. */
export async function playEvaluation(options: EvaluateOptions): Promise<PlayedEvaluation> {
  const { manifest, model } = await readAgentWithModel(options.agent)
  const { environment } = options
  if (environment !== undefined) assertTrainedIn(manifest, environment)
  const subject = environment ?? (await scenarioOfAgent(manifest, options))
  const external = 'external' in subject
  const episodes = options.episodes ?? 100
  const job: EvaluationJob = {
    scenario: external ? subject.external : await scenarioCode(subject),
    success: manifest.scenario.success,
    policy: manifest.policy,
    model,
    episodes,
    seed: options.seed ?? 0,
    taskOrder: options.taskOrder ?? 'drawn',
    choices: true,
    baselines: true,
    confidence: manifest.confidence ?? null,
    logs: options.onLogs !== undefined,
    sample: external ? undefined : options.onSample && { view: subject.package.agentgym.view ?? null },
  }
  const played = superviseJob({
    entry: new URL('./evaluation.process.ts', import.meta.url),
    job,
    identity: identityOf(subject),
    network: external,
    limits: options.limits,
    otherSizes: options.otherSizes,
    signal: options.signal,
    environment: threadEnvironment(),
    onMessage: (received) => {
      const message = received as EvaluationMessage
      if ('done' in message) return options.onProgress?.(message.done, episodes)
      if ('logs' in message) {
        const logs = scenarioLogsSchema.safeParse(message.logs)
        if (logs.success) options.onLogs?.(logs.data)
        return
      }
      const sample = sampleEpisodeSchema.safeParse(message.sample)
      if (sample.success) options.onSample?.(sample.data)
    },
  })
  return (await played.catch((error: unknown) => {
    throw locateFault(error, external ? undefined : subject.sourceMap)
  })) as PlayedEvaluation
}

/** Versions may differ: the agent then shows what it does there. Spaces may not. */
function assertTrainedIn({ scenario }: AgentManifest, { external, package: { name } }: OpenedEnvironment): void {
  const { observation, action } = external.description
  if (isDeepStrictEqual({ observation, action }, { observation: scenario.observation, action: scenario.action })) return
  throw new AgentGymError({
    code: 'scenario_mismatch',
    message: `the agent was trained on ${scenario.name}, and the spaces of ${name} are others`,
    hint: 'Evaluate it on the environment that it was trained on.',
    data: { scenario: scenario.name, given: name },
  })
}

function notInRegistry({ name }: AgentManifest['scenario'], { kind }: AgentEnvironment): AgentGymError {
  return new AgentGymError({
    code: 'scenario_mismatch',
    message: `the agent was trained on ${name}, which is no scenario: a process of its trainer's has it`,
    hint:
      kind === 'gymnasium'
        ? `Only agentgym eval plays it, with a Python that has Gymnasium.`
        : 'Only agentgym eval plays it: name the address of its server with --env.',
    data: { environment: name },
  })
}

/** The scenario that an agent was trained on. Throws `scenario_mismatch` where this machine has no such bundle. */
export async function scenarioOfAgent(
  manifest: AgentManifest,
  { scenario: given, home = agentGymHome() }: Pick<EvaluateOptions, 'scenario' | 'home'>,
): Promise<BuiltScenario> {
  const { name, version, hash, environment } = manifest.scenario
  if (environment !== undefined) throw notInRegistry(manifest.scenario, environment)
  const scenario = given ?? (await recallScenario(hash, home))
  if (scenario === null) {
    throw new AgentGymError({
      code: 'scenario_mismatch',
      message: `this machine does not have ${name}@${version} as the agent was trained on it (bundle ${hash.slice(0, 12)})`,
      hint: 'Name its folder with --scenario DIR.',
      data: { scenario: name, version, hash },
    })
  }
  if (scenario.hash !== hash) {
    const { name: otherName, version: otherVersion } = scenario.package
    throw new AgentGymError({
      code: 'scenario_mismatch',
      message: `the agent was trained on ${name}@${version} (bundle ${hash.slice(0, 12)}), not on ${otherName}@${otherVersion} (bundle ${scenario.hash.slice(0, 12)})`,
      hint: 'Evaluate it on the build that it was trained on, or train it anew on this one.',
      data: { scenario: name, version, hash, given: scenario.hash },
    })
  }
  return scenario
}
