import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type {
  A2cSettings,
  AgentGymError,
  DqnSettings,
  GrpoSettings,
  PpoSettings,
  ProgressEvent,
  ResultEvent,
  SacSettings,
  TrainingAlgorithm,
  TrainingEvent,
} from '@agentgym/contract'
import { type BuiltScenario, buildScenario, checkpointPath, resolvePlan, train } from '@agentgym/runtime'

const folders: string[] = []

/** A folder that `removeFixtures` takes away again. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'agentgym-test-'))
  folders.push(folder)
  return folder
}

export function removeFixtures(): void {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
}

/** Builds a scenario of a definition's source, such as `observation: box({ shape: [1] }), …`. */
export async function scenarioOf(
  definition: string,
  extra: { name?: string; success?: Record<string, number> } = {},
): Promise<BuiltScenario> {
  return built(`export default defineScenario({ ${definition} })`, extra)
}

/** The same of a tool scenario's definition. */
export async function toolScenarioOf(definition: string): Promise<BuiltScenario> {
  return built(`export default defineToolScenario({ ${definition} })`, {})
}

async function built(source: string, extra: { name?: string; success?: Record<string, number> }) {
  const folder = temporaryFolder()
  mkdirSync(join(folder, 'src'))
  const agentgym = {
    kind: 'scenario',
    entry: 'src/index.js',
    title: 'Fixture',
    summary: 'A scenario of a test.',
    category: 'test',
    difficulty: 'beginner',
    success: extra.success ?? {},
  }
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({ name: extra.name ?? 'fixture', version: '1.2.3', license: 'MIT', agentgym }),
  )
  const spaces =
    'box, choice, defineScenario, defineToolScenario, dict, discrete, list, multiDiscrete, number, pointer, text, tool'
  writeFileSync(join(folder, 'src/index.js'), `import { ${spaces} } from '@agentgym/scenario'\n${source}\n`)
  return buildScenario(folder)
}

export type TrainedRun = {
  out: string
  checkpoint: string
  result: ResultEvent
  events: TrainingEvent[]
  progress: ProgressEvent[]
}

type Settings = Partial<
  Record<
    keyof PpoSettings | keyof GrpoSettings | keyof A2cSettings | keyof DqnSettings | keyof SacSettings,
    string | number | boolean
  >
>

/** Trains through the public API; small evaluations unless the settings say otherwise. */
export async function trained(
  scenario: BuiltScenario,
  settings: Settings,
  options: { algorithm?: TrainingAlgorithm; seed?: number; out?: string; resume?: boolean } = {},
): Promise<TrainedRun> {
  const out = options.out ?? join(temporaryFolder(), 'agent')
  const events: TrainingEvent[] = []
  const set = Object.fromEntries(
    Object.entries({ evaluation_episodes: 4, ...settings }).map(([name, value]) => [name, String(value)]),
  )
  const result = await train({
    scenario,
    plan: resolvePlan(scenario, { algorithm: options.algorithm, set }),
    seed: options.seed ?? 1,
    out,
    resume: options.resume,
    onEvent: (event) => events.push(event),
  })
  const progress = events.filter((event) => event.event === 'progress')
  return { out, checkpoint: checkpointPath(out), result, events, progress }
}

/** The failure of a run that must fail. */
export async function failureOf(run: Promise<unknown>): Promise<AgentGymError> {
  const outcome = await run.then(
    () => 'it ended without a failure',
    (error: AgentGymError) => error,
  )
  if (typeof outcome === 'string') throw new Error(outcome)
  return outcome
}
