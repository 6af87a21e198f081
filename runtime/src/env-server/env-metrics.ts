import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { Sessions } from './sessions.ts'

export type EnvMetrics = {
  contentType: string
  text(): Promise<string>
  /** Steps of an environment that were played, in so many seconds. */
  stepped(environment: string, protocol: string, seconds: number, steps?: number): void
  /** A request that was refused or failed, by its code. */
  failed(protocol: string, code: string): void
}

/** What Prometheus reads of a server of environments. */
export function envMetrics(sessions: Sessions): EnvMetrics {
  const registry = new Registry()
  const registers = [registry]
  const gauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      ...{ name, help, registers },
      collect() {
        this.set(read())
      },
    })
  const counter = (name: string, help: string, read: () => number) =>
    new Counter({
      ...{ name, help, registers },
      collect() {
        this.reset()
        this.inc(read())
      },
    })
  gauge('env_environments_active', 'Environments that sessions hold now.', () => sessions.active)
  gauge('env_environments_max', 'Environments that sessions may hold.', () => sessions.limits.most)
  counter('env_sessions_opened_total', 'Sessions opened.', () => sessions.counts.opened)
  counter('env_sessions_refused_total', 'Sessions refused for lack of capacity.', () => sessions.counts.refused)
  counter('env_sessions_reaped_total', 'Sessions ended for being idle.', () => sessions.counts.reaped)
  const steps = new Counter({
    name: 'env_steps_total',
    help: 'Steps played, by environment and protocol.',
    labelNames: ['environment', 'protocol'] as const,
    registers,
  })
  const seconds = new Histogram({
    name: 'env_step_duration_seconds',
    help: 'Time from a request to step until its answer, by environment and protocol.',
    labelNames: ['environment', 'protocol'] as const,
    buckets: [0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.05, 0.25, 1, 5],
    registers,
  })
  const failures = new Counter({
    name: 'env_request_failures_total',
    help: 'Requests that were refused or failed, by protocol and error code.',
    labelNames: ['protocol', 'code'] as const,
    registers,
  })
  return {
    contentType: registry.contentType,
    text: () => registry.metrics(),
    stepped(environment, protocol, spent, count = 1) {
      steps.inc({ environment, protocol }, count)
      seconds.observe({ environment, protocol }, spent)
    },
    failed: (protocol, code) => failures.inc({ protocol, code }),
  }
}
