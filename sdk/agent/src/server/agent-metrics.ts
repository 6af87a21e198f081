import { Counter, Histogram, Registry } from 'prom-client'

export type AgentMetrics = {
  contentType: string
  text(): Promise<string>
  /** Does something that decides on `decisions` observations, and notes how long it took. */
  timed<Result>(route: string, model: string, decide: () => Result, decisions?: number): Result
  /** The language model beside the agents was asked, and why. */
  askedModel(model: string, reason: string): void
  /** A request that was refused or failed, by its code. */
  failed(code: string): void
}

/** What Prometheus reads of a server of agents. */
export function agentMetrics(): AgentMetrics {
  const registry = new Registry()
  const registers = [registry]
  const decisions = new Counter({
    name: 'agent_decisions_total',
    help: 'Observations that an agent decided on, by agent and route.',
    labelNames: ['model', 'route'] as const,
    registers,
  })
  const seconds = new Histogram({
    name: 'agent_decision_duration_seconds',
    help: 'Time that one request took to decide, without HTTP, by agent and route.',
    labelNames: ['model', 'route'] as const,
    buckets: [0.00002, 0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.25, 1],
    registers,
  })
  const asked = new Counter({
    name: 'agent_language_model_requests_total',
    help: 'Requests that the language model beside the agents was asked for, by agent and reason.',
    labelNames: ['model', 'reason'] as const,
    registers,
  })
  const failures = new Counter({
    name: 'agent_request_failures_total',
    help: 'Requests without a decision, by error code.',
    labelNames: ['code'] as const,
    registers,
  })
  return {
    contentType: registry.contentType,
    text: () => registry.metrics(),
    timed(route, model, decide, count = 1) {
      const startMs = performance.now()
      const result = decide()
      seconds.observe({ model, route }, (performance.now() - startMs) / 1_000)
      decisions.inc({ model, route }, count)
      return result
    },
    askedModel: (model, reason) => asked.inc({ model, reason }),
    failed: (code) => failures.inc({ code }),
  }
}
