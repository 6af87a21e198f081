import type { ResultEvent, Run, TrainingEvent } from '@agentgym/contract'
import type { RemoteUpdate, TrainingPlan } from './run-state.ts'

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
