import type { ResultEvent, Run, TrainingEvent } from '@agentgym/contract'
import type { RemoteUpdate } from './remote-run.ts'
import type { TrainingPlan } from './training-plan.ts'

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
