import type { SuccessCriteria } from '@agentgym/contract'

/** What a run is about to do, as every view shows it. Strings from the scenario are raw: views make them safe. */
export type TrainingPlan = {
  /** `name@version` */
  scenario: string
  title: string
  algorithm: string
  steps: number
  seed: number
  /** Folder of the agent, as the user may type it. */
  out: string
  resume: boolean
  success: SuccessCriteria
  /** Settings beside the steps, shown with --verbose. */
  settings: Record<string, unknown>
}
