import type {
  AgentManifest,
  CheckReport,
  Evaluation,
  PpoSettings,
  ResultEvent,
  ScenarioPackage,
  TrainingEvent,
} from '@agentgym/contract'

export type BuiltScenario = { folder: string; package: ScenarioPackage; source: string; hash: string }

/** What the commands need of `@agentgym/runtime`. */
export type RuntimePort = {
  buildScenario(folder: string): Promise<BuiltScenario>
  writeBuild(folder: string): Promise<BuiltScenario & { path: string }>
  checkScenario(folder: string, options: { onCheck?(check: CheckReport['checks'][number]): void }): Promise<CheckReport>
  resolveSettings(
    scenario: BuiltScenario,
    request: { algorithm?: string; steps?: number; set?: Record<string, string> },
  ): PpoSettings
  train(options: {
    scenario: BuiltScenario
    settings: PpoSettings
    seed: number
    out: string
    resume?: boolean
    signal?: AbortSignal
    onEvent(event: TrainingEvent): void
  }): Promise<ResultEvent>
  evaluateAgent(options: {
    agent: string
    scenario?: BuiltScenario
    episodes?: number
    seed?: number
    signal?: AbortSignal
    onProgress?(done: number, total: number): void
  }): Promise<Evaluation>
  readAgent(folder: string): Promise<AgentManifest>
}
