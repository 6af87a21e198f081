import type {
  CheckReport,
  ErrorReport,
  SampleEpisode,
  ScenarioLogs,
  ScenarioView,
  SuccessCriteria,
} from '@agentgym/contract'
import type { ScenarioIdentity } from '../vector-environment.ts'
import type { ComparedEpisodes } from './compared-episodes.ts'

export type Check = CheckReport['checks'][number]

/** Every check, in the order in which they run. Ids are stable: scripts match on them. */
export const checkIds = [
  'manifest',
  'bundle',
  'types',
  'loads',
  'spaces',
  'reset',
  'steps',
  'observations',
  'rewards',
  'masks',
  'metrics',
  'render',
  'episode_ends',
  'determinism',
  'processes',
  'independence',
  'replay',
  'seeds_differ',
  'held_out',
  'reward_varies',
  'baselines',
  'oracle',
  'levels',
  'doctor',
  'builtins',
  'speed',
  'version',
] as const
export type CheckId = (typeof checkIds)[number]

/** What a check saw; `warning` where it passed and names something to mend, `value` where it measured something. */
export type Finding = Pick<Check, 'message' | 'warning' | 'value' | 'levels'>

/** A check that failed without an error of the sandbox: what was seen, and how to mend it. */
export class CheckFailure extends Error {}

export type CheckJob = {
  source: string
  identity: ScenarioIdentity
  harness: string
  success: SuccessCriteria
  /** As the manifest has it; null where it has none. */
  view: ScenarioView | null
  /** How long an episode may take to end, alone, before the scenario counts as too slow to evaluate. */
  episodeMs: number
  /** Plays the compared episodes only, this many vector steps: the second of the two processes. */
  comparedSteps: number | null
}

/** From the checking process. `running` names the check to blame if nothing more comes. */
export type CheckMessage =
  | { kind: 'running'; id: CheckId }
  | { kind: 'check'; check: Check }
  | { kind: 'failed'; id: CheckId; report: ErrorReport }
  | { kind: 'sample'; episode: SampleEpisode }
  | { kind: 'logs'; logs: ScenarioLogs }
  | { kind: 'compared'; played: ComparedEpisodes }

/** From the thread that runs the scenario to its process. */
export type CheckReply = { kind: 'ready' } | { kind: 'done' } | CheckMessage

/** What went wrong and how to mend it, in one message of a check. */
export function faultMessage({ message, hint }: ErrorReport): string {
  return hint === undefined ? message : `${message} ${hint}`
}
