import type { ResultEvent, Run, SuccessCriteria, TrainingEvent } from '@agentgym/contract'
import type { RemoteUpdate } from './run-state.ts'

/** One way of showing a run. `close` gives the terminal back and is called exactly once, also after a failure. */
export type TrainingView = {
  start(plan: TrainingPlan): void
  event(event: TrainingEvent): void
  /** What befalls a run on shared machines: its place in the queue, its worker, what it has cost. */
  remote(update: RemoteUpdate): void
  /** The run was asked to stop and is writing its last checkpoint. */
  stopping(): void
  close(): Promise<void>
  /** After `close`: what the run came to. */
  finish(result: ResultEvent, end: RunEnd): void
}

export type RunEnd = {
  /** The agent's folder, as the user would type it; null where the agent is on the server only. */
  out: string | null
  /** The run on shared machines. */
  run?: Run
}

/** What a run is about to do, as every view shows it. Strings from the scenario are raw: views make them safe. */
export type TrainingPlan = {
  /** `name@version` */
  scenario: string
  title: string
  algorithm: string
  steps: number
  seed: number
  /** Folder that the agent is written to, as the user may type it; null where it stays on the server. */
  out: string | null
  resume: boolean
  success: SuccessCriteria
  /** Settings beside the steps, shown with --verbose. */
  settings: Record<string, unknown>
  /** The run on shared machines; left out where this machine trains. `server` is its address. */
  remote?: { id: string; server: string }
}
