import { parameterLayout } from '../policy/parameter-layout.ts'
import { createPolicySession } from '../policy/policy-session.ts'
import { buildPolicySpec } from '../policy/policy-spec.ts'
import { createSandboxedEnvironment } from '../sandbox/sandboxed-environment.ts'
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
