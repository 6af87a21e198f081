import { parameterLayout } from '../policy/parameter-layout.ts'
import { createPolicySession } from '../policy/policy-session.ts'
import { buildPolicySpec } from '../policy/policy-spec.ts'
import { createSandboxedEnvironment, type SandboxedEnvironment } from '../sandbox/sandboxed-environment.ts'
import type { ScenarioCode } from '../sandbox/scenario-code.ts'
import type { VectorEnvironment } from '../sandbox/vector-environment.ts'
import { allocateSegment, RolloutCollector } from './collect-rollout.ts'
import { createNativeEnvironment } from './testing/native-environment.ts'

export type RolloutBenchmark = {
  environments: number
  /** Environment steps a second of one thread: environments in the sandbox, inference, sampling and recording. */
  rolloutStepsPerSecond: number
  /** Environments alone, in the sandbox and as the same code called directly. */
  sandboxedStepsPerSecond: number
  nativeStepsPerSecond: number
  /** Inference alone. */
  inferenceRowsPerSecond: number
}

/** Vector steps in one measured run: a few milliseconds, short enough to fall between other programs' turns. */
const RUN_STEPS = 16

/**
 * Measures one thread that plays `scenario` with a tanh policy of random weights. `definition` is the same scenario as a
 * value, for the comparison. Of many short runs, taken in turn, the fastest counts: other load only ever slows one down.
 * The scenario must be trusted: it runs in this thread, without a supervisor.
 */
export function rolloutBenchmark(options: {
  scenario: ScenarioCode
  definition: unknown
  environments?: number
  hidden?: number[]
  seconds?: number
}): RolloutBenchmark {
  const { scenario, definition, environments = 1024, hidden = [64, 64], seconds = 3 } = options
  const plan = { environments, seed: 1, plan: { split: 'train' } } as const
  const sandboxed = createSandboxedEnvironment({ ...scenario, ...plan })
  const native = createNativeEnvironment(definition, plan)
  const { description } = sandboxed
  const network = { hidden, activation: 'tanh', embedding: 32, normalizeObservation: false } as const
  const spec = buildPolicySpec(description, network)
  const session = createPolicySession(spec, { batch: environments })
  session.setWeights(smallWeights(parameterLayout(spec).totalSize))
  const segment = allocateSegment(description, spec, { steps: RUN_STEPS, environments })
  const own = createSandboxedEnvironment({ ...scenario, ...plan })
  const collector = new RolloutCollector({ environment: own, session, segment, seed: 1, firstEnvironment: 0 })
  for (const environment of [sandboxed, native, own]) environment.reset()
  let step = 0
  const play = (environment: VectorEnvironment) => () => {
    // The rollout's actions keep both comparisons on the same kind of episodes.
    environment.buffers.actions.set(own.buffers.actions)
    for (let t = 0; t < RUN_STEPS; t++) environment.step()
  }
  const rates = fastestRates(environments * RUN_STEPS, seconds, {
    rolloutStepsPerSecond: () => {
      collector.collect(step)
      step += environments * RUN_STEPS
    },
    sandboxedStepsPerSecond: play(sandboxed),
    nativeStepsPerSecond: play(native),
    inferenceRowsPerSecond: () => {
      for (let t = 0; t < RUN_STEPS; t++) session.run(own.buffers.observations)
    },
  })
  session.dispose()
  sandboxed.dispose()
  own.dispose()
  return { environments, ...rates }
}

export type AuthoringBenchmark = {
  /** Step rate of the whole scenario over that of the bare one, of the fastest rounds of each. */
  ratio: number
  /** The lowest and the highest ratio of one round. */
  range: [number, number]
}

/**
 * What authors' tools cost where they are not used: `whole` is a scenario with an oracle that is never asked, and its console is kept
 * and read after every run, as training does once an iteration; `bare` is the same without an oracle and without a console that
 * anyone reads. The source map is no part of either: it stays with the parent. Both take turns, the fastest run counts, as in
 * `rolloutBenchmark`, and every round has isolates of its own: V8 compiles the same code a tenth faster in one than in another. The
 * scenarios must be trusted.
 */
export function authoringBenchmark(options: {
  whole: ScenarioCode
  bare: ScenarioCode
  environments?: number
  rounds?: number
  secondsOfRound?: number
}): AuthoringBenchmark {
  const { whole, bare, environments = 1024, rounds = 15, secondsOfRound = 1 } = options
  const plan = { environments, seed: 1, plan: { split: 'train' } } as const
  const logs = { keep: true, take: () => {} }
  let run = 0
  const play = (environment: SandboxedEnvironment) => () => {
    const { actions } = environment.buffers
    for (let t = 0; t < RUN_STEPS; t++) {
      for (let row = 0; row < actions.length; row++) actions[row] = (row + t + run) & 1
      environment.step()
    }
    environment.takeLogs()
    run += 1
  }
  const measured = Array.from({ length: rounds }, (_, round) => {
    const open = {
      whole: () => createSandboxedEnvironment({ ...whole, ...plan, logs }),
      bare: () => createSandboxedEnvironment({ ...bare, ...plan }),
    }
    // Whichever comes first may be the one that the memory's layout favors.
    const order = round % 2 === 0 ? (['whole', 'bare'] as const) : (['bare', 'whole'] as const)
    const opened = order.map((name) => [name, open[name]()] as const)
    for (const [, environment] of opened) environment.reset()
    const tasks = Object.fromEntries(opened.map(([name, environment]) => [name, play(environment)]))
    const rates = fastestRates<'whole' | 'bare'>(
      environments * RUN_STEPS,
      secondsOfRound,
      tasks as Record<'whole' | 'bare', () => void>,
    )
    for (const [, environment] of opened) environment.dispose()
    return rates
  })
  const ratios = measured.map((rates) => rates.whole / rates.bare)
  return {
    ratio: Math.max(...measured.map((rates) => rates.whole)) / Math.max(...measured.map((rates) => rates.bare)),
    range: [Math.min(...ratios), Math.max(...ratios)],
  }
}

/** Rows a second of each task's fastest run, the tasks taking turns for `seconds`. */
function fastestRates<Name extends string>(
  rowsInRun: number,
  seconds: number,
  tasks: Record<Name, () => void>,
): Record<Name, number> {
  const names = Object.keys(tasks) as Name[]
  const fastestMs = new Map<Name, number>()
  const end = performance.now() + seconds * 1000
  while (performance.now() < end) {
    for (const name of names) {
      const start = performance.now()
      tasks[name]()
      fastestMs.set(name, Math.min(fastestMs.get(name) ?? Number.POSITIVE_INFINITY, performance.now() - start))
    }
  }
  const rate = (name: Name) => rowsInRun / ((fastestMs.get(name) ?? Number.POSITIVE_INFINITY) / 1000)
  return Object.fromEntries(names.map((name) => [name, rate(name)])) as Record<Name, number>
}

/** Some weights that neither saturate nor vanish. */
function smallWeights(size: number): Float32Array {
  return Float32Array.from({ length: size }, (_, i) => 0.1 * Math.sin(i * 12.9898))
}
