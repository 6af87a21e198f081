import type { LeasedJob, ProgressEvent } from '@agentgym/contract'
import { type Attributes, type Context, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { parseTraceParent } from '@opentelemetry/core'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources'
import { AlwaysOnSampler, BatchSpanProcessor, ParentBasedSampler, TracerProvider } from '@opentelemetry/sdk-trace'
import type { JobTrace, WorkerTracing } from './job-context.ts'
import { nameOf, type WorkerEvent } from './worker-event.ts'

/** How long the process waits at its end for a collector to take the last spans. */
const closeMs = 5_000
/** The first iterations of an attempt have a span each; after that one a second. */
const firstIterations = 10
const iterationEveryMs = 1_000

type Tracer = ReturnType<TracerProvider['getTracer']>

/**
 * Traces of this worker by OTLP over HTTP (protobuf): a span per job, below its requester's, and below that of a
 * training spans of its iterations. What else OTEL_… variables set of exporter and resource, the library reads itself.
 */
export function openTracing(url: string): WorkerTracing {
  const exporter = new OTLPTraceExporter({ url, timeoutMillis: closeMs })
  const provider = new TracerProvider({
    resource: defaultResource()
      .merge(resourceFromAttributes({ 'service.name': 'agentgym-worker' }))
      // What the operator says about the service comes last.
      .merge(detectResources({ detectors: [envDetector] })),
    sampler: new ParentBasedSampler({ root: new AlwaysOnSampler() }),
    spanLimits: { attributeValueLengthLimit: 1_000 },
    spanProcessors: [new BatchSpanProcessor({ exporter })],
  })
  const tracer = provider.getTracer('agentgym')
  return {
    job: (job) => traceJob(tracer, job),
    close: async () => {
      await provider.shutdown().catch(() => {})
    },
  }
}

function traceJob(tracer: Tracer, job: LeasedJob): JobTrace {
  const { subject, run } = nameOf(job)
  const attributes: Attributes = { 'agentgym.job_id': job.id, 'agentgym.subject': subject }
  if (run !== undefined) attributes['agentgym.run_id'] = run
  if (job.kind === 'train') attributes['agentgym.attempt'] = job.run.attempt
  const span = tracer.startSpan(`job.${job.kind}`, { kind: SpanKind.CONSUMER, attributes }, callerOf(job))
  const below = trace.setSpan(ROOT_CONTEXT, span)
  let iterations = 0
  let spannedAt = Number.NEGATIVE_INFINITY
  return {
    iteration: (point) => {
      iterations += 1
      if (iterations > firstIterations && performance.now() - spannedAt < iterationEveryMs) return
      spannedAt = performance.now()
      traceIteration(tracer, below, point)
    },
    end: (event) => {
      span.setAttributes(endOf(event))
      if ('error' in event && event.error !== undefined) {
        span.setAttribute('error.type', event.error.code).setStatus({ code: SpanStatusCode.ERROR })
      }
      span.end()
    },
  }
}

function callerOf({ traceparent }: LeasedJob): Context {
  const caller = traceparent === null ? null : parseTraceParent(traceparent)
  return caller === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, { ...caller, isRemote: true })
}

/** The trainer has no network, so its span is made from the durations that it reports. */
function traceIteration(tracer: Tracer, below: Context, point: ProgressEvent): void {
  const { iteration, steps, collect_seconds, update_seconds, return_mean } = point
  const endTime = Date.now()
  const startTime = endTime - 1_000 * (collect_seconds + update_seconds)
  const attributes: Attributes = {
    'agentgym.iteration': iteration,
    'agentgym.steps': steps,
    'agentgym.collect_seconds': collect_seconds,
    'agentgym.update_seconds': update_seconds,
  }
  if (return_mean !== null) attributes['agentgym.return_mean'] = return_mean
  tracer.startSpan('trainer.iteration', { startTime, attributes }, below).end(endTime)
}

function endOf(event: WorkerEvent): Attributes {
  const state = event.event === 'ended' ? event.state : event.event
  return { 'agentgym.state': state }
}
