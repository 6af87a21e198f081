import type { ResultEvent, Run, SuccessCriteria, TrainingEvent } from '@agentgym/contract'
import type { RemoteUpdate } from './run-state.ts'

/** A way to show a run. `close` restores the terminal and is called exactly once, also after a failure. */
export type TrainingView = {
  start(plan: TrainingPlan): void
  event(event: TrainingEvent): void
  /** An update of a remote run: position in the queue, worker, cost. */
  remote(update: RemoteUpdate): void
  /** The run is stopping and writes its last checkpoint. */
  stopping(): void
  close(): Promise<void>
  /** Shows the result, after `close`. */
  finish(result: ResultEvent, end: RunEnd): void
}

export type RunEnd = {
  /** The agent's folder, as the user would type it; null where the agent is on the server only. */
  out: string | null
  /** The remote run. */
  run?: Run
}

/** The plan of a run. Strings from the scenario are raw: views make them safe. */
export type TrainingPlan = {
  /** `name@version` */
  scenario: string
  title: string
  algorithm: string
  steps: number
  seed: number
  /** Output folder as the user would type it; null if the agent stays on the server. */
  out: string | null
  resume: boolean
  success: SuccessCriteria
  /** Settings, shown with --verbose. */
  settings: Record<string, unknown>
  /** The remote run, with the address of its server; absent for local training. */
  remote?: { id: string; server: string }
}
