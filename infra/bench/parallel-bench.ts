import { availableParallelism, loadavg } from 'node:os'
import { type JointMeasurement, jointBenchmark } from '@agentgym/runtime/benchmarks'
import type { Figure } from './figure.ts'

/** A small policy as most scenarios have it, and one that is large enough for several processes. */
const policies = [
  { name: '64-64 by 256', hidden: [64, 64], samples: 4_096, minibatchSize: 256, epochs: 4 },
  { name: '512-512 by 4,096', hidden: [512, 512], samples: 8_192, minibatchSize: 4_096, epochs: 2 },
]
const ways = [
  { name: '1 process × 1 thread', processes: 1, threads: 1, gloo: false },
  { name: '1 process × 2 threads', processes: 1, threads: 2, gloo: false },
  { name: '2 processes × 1 thread', processes: 2, threads: 1, gloo: false },
  { name: '2 machines × 1 thread (Gloo, loopback)', processes: 2, threads: 1, gloo: true },
]
const FLOAT_BYTES = 4

/** A port stays taken for a moment after its hub was closed. */
let port = 21_357
const meeting = (gloo: boolean) => (gloo ? { rendezvousPort: port++ } : {})

/**
 * PPO updates by one process and by two, in milliseconds of one minibatch, and what a model fitted to them says of 8 and 64
 * machines. The model: the gradient divides by the rows of the machine that has most of a minibatch; a ring's all-reduce
 * takes 2 (N - 1) messages one after another and sends 2 (N - 1) / N of the gradient; what is left stays, though the pass
 * over all values in it divides as well.
 */
export async function parallelBenchmark(say: (line: string) => void): Promise<Figure[]> {
  const load = loadavg()[0].toFixed(1)
  say(`parallel: ${availableParallelism()} cores, load ${load} before the start; milliseconds of one minibatch …`)
  const measured: Record<string, JointMeasurement>[] = []
  for (const { name, ...policy } of policies) {
    const results: Record<string, JointMeasurement> = {}
    for (const { name: way, gloo, ...parts } of ways) {
      results[way] = await jointBenchmark({ ...policy, ...parts, ...meeting(gloo) })
      const { median, least } = results[way]
      const times = (of: 'median' | 'least') => (results[ways[0].name][of].whole / results[way][of].whole).toFixed(2)
      const shared = parts.processes === 1 ? '' : `, waiting and adding up ${ms(median.shared)} (${ms(least.shared)})`
      say(
        `  ${name}  ${way}: ${ms(median.whole)} (least ${ms(least.whole)}), ×${times('median')} (×${times('least')})${shared}`,
      )
    }
    measured.push(results)
  }
  const [one, , two] = ways.map(({ name }) => name)
  const link = await measureLink()
  say(`  Gloo, fitted: ${(1e6 * link.latency).toFixed(0)} µs a message, ${(link.bytesPerSecond / 1e9).toFixed(2)} GB/s`)
  for (const [i, { name, minibatchSize }] of policies.entries()) {
    for (const machines of [8, 64]) {
      const seconds = predict(measured[i][two], link, minibatchSize, machines)
      const speedup = measured[i][one].least.whole / seconds
      say(`  ${name}  ${machines} machines × 1 thread, by the model: ${ms(seconds)}, ×${speedup.toFixed(2)}`)
    }
  }
  const [small, large] = measured.map((results) => results[one].median.whole / results[two].median.whole)
  const figure = (id: string, policy: string, value: number, bar: number | null): Figure => {
    return { id, what: `updates of ${policy} by 2 processes over those by 1, a thread each`, value, unit: '×', bar }
  }
  return [
    figure('parallel_speedup_small', policies[0].name, small, null),
    figure('parallel_speedup_large', policies[1].name, large, 1.5),
  ]
}

type Link = { latency: number; bytesPerSecond: number }

/**
 * Of an all-reduce of two, which takes two messages of half the gradient: from a small gradient and a large one, the least of
 * many updates of a single minibatch each.
 */
async function measureLink(): Promise<Link> {
  const once = { samples: 64, minibatchSize: 64, epochs: 1, processes: 2, threads: 1 }
  const small = await jointBenchmark({ ...once, ...meeting(true), hidden: [64, 64], repeats: 200 })
  const large = await jointBenchmark({ ...once, ...meeting(true), hidden: [512, 512], repeats: 50 })
  const bytes = (one: JointMeasurement) => FLOAT_BYTES * one.parameters
  const perByte = Math.max(1e-12, (large.least.shared - small.least.shared) / (bytes(large) - bytes(small)))
  return { latency: Math.max(0, small.least.shared - perByte * bytes(small)) / 2, bytesPerSecond: 1 / perByte }
}

/** Seconds of one minibatch on so many machines. */
function predict({ least, parameters }: JointMeasurement, link: Link, minibatch: number, machines: number): number {
  const rows = minibatch / machines
  // Rows of a minibatch fall to machines by chance, and all wait for the one that has most of them.
  const most = rows + Math.sqrt(2 * Math.log(machines) * rows)
  const gradient = (least.gradient * most) / (minibatch / 2)
  const messages = 2 * (machines - 1)
  const bytes = (messages / machines) * FLOAT_BYTES * parameters
  const rest = Math.max(0, least.whole - least.gradient - least.shared)
  return gradient + messages * link.latency + bytes / link.bytesPerSecond + rest
}

function ms(seconds: number): string {
  return `${(1000 * seconds).toFixed(2)} ms`
}
