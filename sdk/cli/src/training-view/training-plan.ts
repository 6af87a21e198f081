import type { SuccessCriteria } from '@agentgym/contract'

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
