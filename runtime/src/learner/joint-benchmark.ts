import { parameterLayout } from '../policy/parameter-layout.ts'
import { createLearner } from './learner.ts'
import { cartPolePolicy, cartPoleUpdate, syntheticRollout } from './learner-benchmark.ts'
import type { UpdateMetrics } from './learner-types.ts'
import { RankHub, Ranks } from './ranks.ts'

export type JointBenchmark = {
  /** Of all processes. */
  samples: number
  minibatchSize: number
  epochs: number
  hidden: number[]
  processes: number
  /** Of each. */
  threads: number
  /** Each on a machine of its own, as far as the learner can tell: they meet at this port of the loopback interface. */
  rendezvousPort?: number
  repeats?: number
}

/** Seconds of one minibatch. */
export type MinibatchSeconds = {
  /** All of an update, over its minibatches. */
  whole: number
  /** The process's own share of the gradient, and waiting for the others and adding up; 0 of a single process. */
  gradient: number
  shared: number
}

/** Of several updates: their median, and the least, which a busy machine changes less. */
export type JointMeasurement = {
  median: MinibatchSeconds
  least: MinibatchSeconds
  /** Numbers that are added up. */
  parameters: number
}

/**
 * PPO updates of cart-pole's policy by several learners, each with its share of the samples. They are threads of this process in place
 * of processes, with the same memory and barriers between them.
 */
export async function jointBenchmark(settings: JointBenchmark): Promise<JointMeasurement> {
  const { samples, minibatchSize, epochs, hidden, processes, threads, repeats = 5 } = settings
  const spec = cartPolePolicy(hidden)
  const { hubs, ranks } = await connect(settings)
  const options = { seed: 1, device: 'cpu', threads, path: 'fused' } as const
  const learners = Array.from({ length: processes }, (_, i) =>
    createLearner(spec, { ...options, ranks: ranks[i]?.native }),
  )
  const rollout = [syntheticRollout(samples / processes)]
  const update = cartPoleUpdate(minibatchSize, epochs)
  const measured: { seconds: number; metrics: UpdateMetrics[] }[] = []
  for (let i = 0; i <= repeats; i++) {
    const start = performance.now()
    const metrics = await Promise.all(learners.map((learner) => learner.update(rollout, { ...update, seed: i })))
    if (i > 0) measured.push({ seconds: (performance.now() - start) / 1000, metrics })
  }
  for (const learner of learners) learner.dispose()
  for (const hub of hubs) hub.close()
  const minibatches = epochs * Math.ceil(samples / minibatchSize)
  const mean = (metrics: UpdateMetrics[], name: 'gradientSeconds' | 'sharedSeconds') =>
    metrics.reduce((sum, one) => sum + (one[name] ?? 0), 0) / processes
  const at = (index: number): MinibatchSeconds => {
    const pick = (of: (one: (typeof measured)[number]) => number) =>
      measured.map(of).sort((a, b) => a - b)[index] / minibatches
    return {
      whole: pick(({ seconds }) => seconds),
      gradient: pick(({ metrics }) => mean(metrics, 'gradientSeconds')),
      shared: pick(({ metrics }) => mean(metrics, 'sharedSeconds')),
    }
  }
  return { median: at(Math.floor(repeats / 2)), least: at(0), parameters: parameterLayout(spec).totalSize }
}

async function connect({ processes, rendezvousPort }: JointBenchmark): Promise<{ hubs: RankHub[]; ranks: Ranks[] }> {
  if (processes === 1) return { hubs: [], ranks: [] }
  const place = (rank: number, local: number) => {
    const environments = { firstEnvironment: 8 * rank, environments: 8, allEnvironments: 8 * processes }
    return { local, rank, size: processes, ...environments }
  }
  if (rendezvousPort === undefined) {
    const hub = new RankHub(processes, { severalHosts: false })
    return { hubs: [hub], ranks: Array.from({ length: processes }, (_, i) => new Ranks(hub.descriptor, place(i, i))) }
  }
  const hubs = Array.from({ length: processes }, () => new RankHub(1, { severalHosts: true }))
  const meeting = { address: '127.0.0.1', port: rendezvousPort, hosts: processes, timeoutSeconds: 60 }
  await Promise.all(hubs.map((hub, host) => hub.joinHosts({ ...meeting, host }, '')))
  return { hubs, ranks: hubs.map((hub, i) => new Ranks(hub.descriptor, place(i, 0))) }
}
