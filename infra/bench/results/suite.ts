import { readdir, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { type ScenarioPackage, scenarioPackageSchema } from '@agentgym/contract'

/** A scenario with nothing set but its steps, with its own training block, or with the settings that a comparison changes. */
export type Experiment = {
  /** Unique; the command takes it as an argument. */
  id: string
  /** Folder in plugins/. */
  scenario: string
  steps: number
  /** `return_mean`, or the metric of the scenario's success criteria that is reported. */
  metric: string
  target: number
  /** Whether the scenario's own training block holds. */
  tuned?: true
  /** What differs from the defaults. */
  set?: Record<string, string>
  /** What others publish for the same task; steps and settings are theirs. */
  published?: { score: number; steps: number; by: string }
}

export const seeds = [1, 2, 3, 4, 5]

export const plugins = fileURLToPath(new URL('../../../plugins/', import.meta.url))

const zoo = (score: number, steps: number) => ({ score, steps, by: 'RL-Zoo, PPO' })

/** What differs from a scenario's package.json, or is not in it. */
type Stated = {
  /** With nothing set. */
  steps?: number
  published?: Experiment['published']
  compared?: { id: string; set: Record<string, string> }[]
}

const withoutConvolution = { set: { convolution: 'none' } }

const stated: Record<string, Stated> = {
  'cart-pole': { steps: 100_000, published: zoo(500, 100_000) },
  pendulum: { steps: 100_000, published: zoo(-172.2, 100_000) },
  acrobot: { steps: 100_000, published: zoo(-73.5, 1_000_000) },
  'mountain-car': { steps: 300_000, published: zoo(-110.4, 1_000_000) },
  'lunar-lander': { steps: 300_000, published: zoo(242.1, 1_000_000) },
  't-maze': { steps: 200_000, compared: [{ id: 't-maze-without-memory', set: { memory: 'none' } }] },
  'grid-maze': { steps: 300_000 },
  breakout: { steps: 1_000_000, compared: [{ id: 'breakout-mlp', ...withoutConvolution }] },
  snake: { steps: 3_000_000, compared: [{ id: 'snake-mlp', ...withoutConvolution }] },
}

/** Of a scenario that names none. */
const STEPS = 200_000

/** What `npm run bench -- results` runs: every folder of plugins/. */
export async function readSuite(): Promise<Experiment[]> {
  const folders = (await readdir(plugins, { withFileTypes: true })).filter((entry) => entry.isDirectory())
  const names = folders.map(({ name }) => name).sort((a, b) => placeOf(a) - placeOf(b) || a.localeCompare(b))
  const scenarios = await Promise.all(names.map(async (name) => ({ name, agentgym: await readManifest(name) })))
  return scenarios.flatMap(({ name, agentgym }) => experimentsOf(name, agentgym, stated[name]))
}

/** Quick ones first, as they are stated; then the others. */
function placeOf(name: string): number {
  const place = Object.keys(stated).indexOf(name)
  return place < 0 ? Number.POSITIVE_INFINITY : place
}

async function readManifest(name: string): Promise<ScenarioPackage['agentgym']> {
  const text = await readFile(`${plugins}${name}/package.json`, 'utf8')
  return scenarioPackageSchema.parse(JSON.parse(text)).agentgym
}

/** Nothing set; the scenario's own training block, if it sets more than the steps; and comparisons. */
export function experimentsOf(
  scenario: string,
  { success, training }: Pick<ScenarioPackage['agentgym'], 'success' | 'training'>,
  { steps, published, compared = [] }: Stated = {},
): Experiment[] {
  const { steps: own } = training
  const ownSteps = typeof own === 'number' ? own : STEPS
  const plain = { id: scenario, scenario, steps: steps ?? ownSteps, ...reported(success) }
  const tuned = { ...plain, id: `${scenario}-tuned`, steps: ownSteps, tuned: true } as const
  return [
    { ...plain, ...(published === undefined ? {} : { published }) },
    ...(Object.keys(training).some((name) => name !== 'steps') ? [tuned] : []),
    ...compared.map((changed) => ({ ...plain, ...changed })),
  ]
}

/** `solved`, which decides most, else the first criterion. */
function reported(success: Record<string, number>): Pick<Experiment, 'metric' | 'target'> {
  const [first = 'return_mean'] = Object.keys(success)
  const metric = success.solved === undefined ? first : 'solved'
  return { metric, target: success[metric] ?? 0 }
}
