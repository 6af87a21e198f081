import type { ErrorReport } from '@agentgym/contract'
import type { GroupFigures, ProcessFigures } from '@agentgym/registry/processes'

/** What a server's process is started with. */
export type ProcessStart = {
  /** Its number in the group, from 1 on. */
  process: number
  port: number
  servedPort: number | null
  data: string | undefined
  environment: NodeJS.ProcessEnv
}

/** From the supervisor to a process of the server. */
export type ToProcess =
  | { kind: 'start'; start: ProcessStart }
  | { kind: 'read_figures'; request: number }
  | { kind: 'group_figures'; request: number; group: GroupFigures }
  | { kind: 'stop' }

/** From a process of the server to the supervisor. */
export type FromProcess =
  | { kind: 'serving'; url: string; hasSite: boolean }
  /** It never served. A failure that can be expected comes as its report, a bug as its stack. */
  | { kind: 'failed'; report: ErrorReport | null; stack: string }
  | { kind: 'figures'; request: number; figures: ProcessFigures | null }
  | { kind: 'ask_group'; request: number }
