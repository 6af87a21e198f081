import { Counter, Histogram, Registry } from 'prom-client'

/** What one process counts as it happens. Prometheus adds the processes up, and sees when one has begun anew. */
export type ProcessMetrics = {
  registry: Registry
  /** `route` is the route's pattern, never a path: paths are as many as clients like. */
  request(request: { method: string; route: string; status: number }, seconds: number): void
  /** Iterations that a run had not had before, each by the seconds it took. Call it once they are committed. */
  iterations(seconds: number[]): void
  /** A call of an agent: `answered`, `dropped`, or the code of what it failed with. */
  hostedCall(outcome: string, seconds: number): void
}

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

export function createProcessMetrics(): ProcessMetrics {
  const registry = new Registry()
  const registers = [registry]
  const labelNames = ['method', 'route', 'status'] as const
  const requests = new Counter({
    name: 'http_requests_total',
    help: 'Requests answered, by method, pattern of the route and status.',
    labelNames,
    registers,
  })
  const durations = new Histogram({
    name: 'http_request_duration_seconds',
    help: "Time until a request's answer began.",
    labelNames,
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    registers,
  })
  const iterations = new Histogram({
    name: 'training_iteration_duration_seconds',
    help: 'Time that a training iteration took, collecting and learning, as its worker measured it.',
    buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300],
    registers,
  })
  const calls = new Histogram({
    name: 'hosted_call_duration_seconds',
    help: 'Time from a call of an agent to what became of it: `answered`, `dropped` by its client, or the code of an error.',
    labelNames: ['outcome'] as const,
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers,
  })
  // There from the first scrape on: a series that begins with its first call is missed by every rate of it.
  calls.zero({ outcome: 'answered' })
  return {
    registry,
    request: ({ method, route, status }, seconds) => {
      const labels = { method: methods.has(method) ? method : 'other', route, status: String(status) }
      requests.inc(labels)
      durations.observe(labels, seconds)
    },
    iterations: (seconds) => {
      for (const each of seconds) iterations.observe(each)
    },
    hostedCall: (outcome, seconds) => calls.observe({ outcome }, seconds),
  }
}
