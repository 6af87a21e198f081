import type { ResultEvent, TrainingEvent } from '@agentgym/contract'
import type { TrainingPlan } from './training-plan.ts'

/** One way of showing a run. `close` gives the terminal back and is called exactly once, also after a failure. */
export type TrainingView = {
  start(plan: TrainingPlan): void
  event(event: TrainingEvent): void
  /** The run was asked to stop and is writing its last checkpoint. */
  stopping(): void
  close(): Promise<void>
  /** After `close`: what the run came to. */
  finish(result: ResultEvent): void
}
