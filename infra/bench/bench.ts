import { cp, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { availableParallelism, cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { loadScenario, resolvePlan, train } from '@agentgym/runtime'
import { authoringBenchmark, learnerBenchmark, rolloutBenchmark, scenarioCode } from '@agentgym/runtime/benchmarks'
import { algorithmsBenchmark } from './algorithms-bench.ts'
import { backupBenchmark } from './backup-bench.ts'
import { dqnBenchmark } from './dqn-bench.ts'
import { encoderBenchmark } from './encoder-bench.ts'
import { environmentsBenchmark } from './environments-bench.ts'
import type { Figure } from './figure.ts'
import { marketBenchmark } from './market-bench.ts'
import { parallelBenchmark } from './parallel-bench.ts'
import { peersBenchmark } from './peers-bench.ts'
import { queueBenchmark } from './queue-bench.ts'
import { registryBenchmark } from './registry-bench.ts'
import { resultsBenchmark } from './results/results-bench.ts'
import { sacBenchmark } from './sac-bench.ts'
import { scaleBenchmark } from './scale-bench.ts'
import { serveBenchmark } from './serve-bench.ts'
import { siteBenchmark } from './site-bench.ts'
import { speedBenchmark } from './speed-bench.ts'
import { trainingServiceBenchmark } from './training-service-bench.ts'
import { vectorBenchmark } from './vector-bench.ts'

const cartPole = fileURLToPath(new URL('../../plugins/cart-pole', import.meta.url))
const json = process.argv.includes('--json')

async function main(): Promise<void> {
  const first = process.argv[2] ?? '--'
  const benchmark = benchmarks[first.startsWith('--') ? 'training' : first]
  if (benchmark === undefined || process.argv.includes('--help')) {
    if (benchmark === undefined) say(`There is no benchmark ${first}.\n`)
    process.stderr.write(usage)
    process.exitCode = benchmark === undefined ? 2 : 0
    return
  }
  const folder = await mkdtemp(join(tmpdir(), 'agentgym-bench-'))
  process.env.AGENTGYM_HOME = join(folder, 'home')
  try {
    const figures = await benchmark.run(folder)
    const machine = { cpu: cpus()[0]?.model ?? 'unknown', cores: availableParallelism(), node: process.versions.node }
    if (json) process.stdout.write(`${JSON.stringify({ machine, figures })}\n`)
    else print(machine, figures)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

type Benchmark = { what: string; run: (folder: string) => Promise<Figure[]> }

const embedded = process.argv.includes('--embedded')

/** By the name that follows `npm run bench --`; without one, `training` runs. */
const benchmarks: Record<string, Benchmark> = {
  training: { what: 'environments, rollouts, learner and whole trainings on this machine', run: training },
  speed: { what: 'whole trainings with their bars', run: (folder) => speedBenchmark(folder, say) },
  results: {
    what: 'trains what docs/results.md lacks, and writes it: [NAME …] [--seeds N]; --page trains nothing, --readme writes the READMEs',
    run: results,
  },
  peers: {
    what: 'PPO beside other libraries: [--chart FILE]',
    run: (folder) => peersBenchmark(folder, optionValue('--chart'), say),
  },
  algorithms: {
    what: 'how much GRPO and PPO play until they succeed',
    run: (folder) => algorithmsBenchmark(folder, say),
  },
  dqn: { what: 'the speed of DQN', run: async (folder) => [await dqnBenchmark(folder, say)] },
  sac: { what: 'the speed of SAC', run: (folder) => sacBenchmark(folder, say) },
  encoder: { what: 'a sentence encoder where wordings are new', run: (folder) => encoderBenchmark(folder, say) },
  environments: {
    what: '`agentgym train --env` on environments of Gymnasium, beside Stable-Baselines3',
    run: (folder) => environmentsBenchmark(folder, say),
  },
  authoring: { what: 'what an oracle and logs cost unused', run: async (folder) => [await authoring(folder)] },
  parallel: { what: 'updates by several processes', run: () => parallelBenchmark(say) },
  serve: {
    what: 'decisions of an agent in a program and over HTTP, and steps of environments over a socket',
    run: async (folder) => [...(await serveBenchmark(folder, say)), ...(await vectorBenchmark(say))],
  },
  registry: {
    what: 'the registry with 100,000 packages: [--embedded]',
    run: () => registryBenchmark({ packages: 100_000, embedded, say }),
  },
  site: { what: 'its pages: [--embedded]', run: () => siteBenchmark({ packages: 10_000, embedded, say }) },
  service: { what: 'training as a service: [--embedded]', run: () => trainingServiceBenchmark({ embedded, say }) },
  queue: { what: 'leases of jobs: [--embedded]', run: () => queueBenchmark({ embedded, say }) },
  market: { what: 'purchases: [--embedded]', run: () => marketBenchmark({ embedded, say }) },
  backup: {
    what: 'a backup and its restore: [--gigabytes N]',
    run: () => backupBenchmark({ gigabytes: Number(optionValue('--gigabytes') ?? 2), say }),
  },
  scale: {
    what: 'what users do on a large database beside a small one: [--rounds N]',
    run: () => scaleBenchmark({ rounds: Number(optionValue('--rounds') ?? 20), say }),
  },
}

const usage = `npm run bench [-- NAME] [--json]

${Object.entries(benchmarks)
  .map(([name, { what }]) => `  ${name.padEnd(13)} ${what}`)
  .join('\n')}

Without a name, training. Databases are PostgreSQL, or PGlite with --embedded.
`

async function training(folder: string): Promise<Figure[]> {
  return [
    ...(await rollouts()),
    await authoring(folder),
    await learner(),
    await wholeTraining(folder),
    await dqnBenchmark(folder, say),
    await secondsTo475(folder),
  ]
}

async function results(folder: string): Promise<Figure[]> {
  const seeds = optionValue('--seeds')
  const only = process.argv.slice(3).filter((argument) => !argument.startsWith('--') && argument !== seeds)
  const [pageOnly, readmes] = ['--page', '--readme'].map((option) => process.argv.includes(option))
  return resultsBenchmark(folder, { only, pageOnly, seeds: Number(seeds ?? 5), readmes, say })
}

/** Environments in the sandbox against the same code called directly, and whole rollouts, on one core. */
async function rollouts(): Promise<Figure[]> {
  say('rollouts: 1,024 cart-poles, 64-64 tanh policy, one thread …')
  const scenario = await scenarioCode(await loadScenario(cartPole))
  const { default: definition } = (await import(join(cartPole, 'src/index.ts'))) as { default: unknown }
  const measured = rolloutBenchmark({ scenario, definition, environments: 1024, hidden: [64, 64], seconds: 6 })
  return [
    {
      id: 'sandboxed_over_native',
      what: 'step rate in the sandbox over the same code outside, 1,024 environments',
      value: measured.sandboxedStepsPerSecond / measured.nativeStepsPerSecond,
      unit: '×',
      bar: 0.8,
    },
    {
      id: 'rollout_steps_per_second_per_core',
      what: 'rollout with environments, inference and sampling, 64-64 policy',
      value: measured.rolloutStepsPerSecond,
      unit: 'steps/s per core',
      bar: 1.5e6,
    },
  ]
}

/** Cart-pole as it is, whose oracle and console are not used, over cart-pole without them, taking turns in one process. */
async function authoring(folder: string): Promise<Figure> {
  say('authoring: 1,024 cart-poles with and without oracle and logs, in turn …')
  const bare = join(folder, 'bare')
  await cp(cartPole, bare, { recursive: true, filter: (path) => !path.includes('node_modules') })
  const { agentgym } = JSON.parse(await readFile(join(bare, 'package.json'), 'utf8'))
  await rename(join(bare, agentgym.entry), join(bare, 'src/whole.ts'))
  const entry = "import whole from './whole.ts'\nconst { oracle, ...bare } = whole\nexport default bare\n"
  await writeFile(join(bare, agentgym.entry), entry)
  const { ratio, range } = authoringBenchmark({
    whole: await scenarioCode(await loadScenario(cartPole)),
    bare: await scenarioCode(await loadScenario(bare)),
  })
  return {
    id: 'authoring_over_bare',
    what: `step rate with unused oracle and logs over that without; single rounds ${range.map((one) => one.toFixed(2)).join(' to ')}`,
    value: ratio,
    unit: '×',
    bar: 0.95,
  }
}

/** Forward, backward and Adam; a sample counts once for each epoch that sees it. */
async function learner(): Promise<Figure> {
  say('learner: PPO updates of 65,536 samples by 4,096, one thread …')
  const value = await learnerBenchmark({ samples: 65_536, minibatchSize: 4096, epochs: 1, threads: 1 })
  return {
    id: 'learner_samples_per_second_per_core',
    what: 'PPO update, one epoch counted once',
    value,
    unit: 'samples/s per core',
    bar: 4e5,
  }
}

const wide = {
  environments: '1024',
  rollout_steps: '64',
  minibatch_size: '4096',
  epochs: '4',
  evaluate_every: '0',
  rollout_workers: '2',
  learner_threads: '2',
}

/** Rollouts and learning in turn, as a user's run does, without start-up and evaluation: from the first to the last progress. */
async function wholeTraining(folder: string): Promise<Figure> {
  say('training: 1,024 environments, 4 epochs, 2 rollout workers and 2 learner threads …')
  const points: { steps: number; seconds: number }[] = []
  const set = { ...wide, steps: String(1024 * 64 * 40), checkpoint_every: '0', evaluation_episodes: '1' }
  await run(join(folder, 'wide'), 1, set, (steps, seconds) => points.push({ steps, seconds }))
  const [first, last] = [points[0], points[points.length - 1]]
  const value = (last.steps - first.steps) / (last.seconds - first.seconds)
  return {
    id: 'training_steps_per_second',
    what: 'whole PPO training at 4 epochs on 2 cores',
    value,
    unit: 'steps/s',
    bar: 1e5,
  }
}

/** Training time until 100 held-out episodes reach 475 and 100 others confirm it, evaluations included. */
async function secondsTo475(folder: string): Promise<Figure> {
  say("cart-pole with its own settings (RL-Zoo's), seed 1, evaluated every 10,000 steps …")
  const result = await run(join(folder, 'solved'), 1, { evaluate_every: '10000' })
  const value = result.evaluation.success.ok === true ? result.seconds : Number.POSITIVE_INFINITY
  return {
    id: 'cart_pole_seconds_to_475',
    what: 'cart-pole until a mean return of 475',
    value,
    unit: 's',
    bar: null,
  }
}

async function run(
  out: string,
  seed: number,
  set: Record<string, string>,
  onProgress: (steps: number, seconds: number) => void = () => {},
) {
  const scenario = await loadScenario(cartPole)
  return train({
    scenario,
    plan: resolvePlan(scenario, { set }),
    seed,
    out,
    onEvent: (event) => {
      if (event.event === 'progress') onProgress(event.steps, event.seconds)
    },
  })
}

function optionValue(name: string): string | null {
  const at = process.argv.indexOf(name)
  return at < 0 ? null : (process.argv[at + 1] ?? null)
}

function say(line: string): void {
  process.stderr.write(`${line}\n`)
}

function print(machine: { cpu: string; cores: number; node: string }, figures: Figure[]): void {
  process.stdout.write(`\n${machine.cpu}, ${machine.cores} cores, Node ${machine.node}\n\n`)
  for (const { what, value, unit, bar, lower = false } of figures) {
    const sign = bar === null ? '·' : (lower ? value <= bar : value >= bar) ? '✓' : '✗'
    const target = bar === null ? '' : ` (${lower ? '≤' : '≥'} ${format(bar)}: ${sign === '✓' ? 'ok' : 'missed'})`
    process.stdout.write(`  ${sign} ${format(value).padStart(10)} ${unit.padEnd(19)} ${what}${target}\n`)
  }
}

function format(value: number): string {
  return value >= 1000 ? Math.round(value).toLocaleString('en-US') : value.toFixed(2)
}

await main()
