import { type Attributes, ROOT_CONTEXT, type SpanContext, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { type ExportResult, parseTraceParent } from '@opentelemetry/core'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources'
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type ReadableSpan,
  type Sampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import type { Log } from '../services.ts'
import { version } from '../version.ts'
import type { RequestTracer, TracingSettings } from './tracing.ts'

/** How long the process waits at shutdown for a collector to accept the last spans. */
const CLOSE_MS = 5_000
/** How often to report an unreachable collector. */
const TELL_EVERY_MS = 60_000

/** Sends traces of this process by OTLP over HTTP (protobuf). The library reads the other OTEL_… variables itself. */
export function openTracing(settings: TracingSettings, log: Log): RequestTracer {
  const exporter = new OTLPTraceExporter({ url: settings.url, timeoutMillis: CLOSE_MS })
  const processor = new BatchSpanProcessor({ exporter: telling(exporter, log) })
  const provider = new TracerProvider({
    resource: defaultResource()
      .merge(resourceFromAttributes({ 'service.name': 'agentgym-serve', 'service.version': version }))
      // Attributes set by the operator take precedence.
      .merge(detectResources({ detectors: [envDetector] })),
    sampler: createSampler(settings.sampler),
    spanLimits: { attributeValueLengthLimit: 1_000 },
    spanProcessors: [processor],
  })
  const tracer = provider.getTracer('agentgym')
  return {
    start: ({ method, requestId, traceparent, trusted }) => {
      const caller = traceparent === undefined ? null : parseTraceParent(traceparent)
      const context =
        caller !== null && trusted ? trace.setSpanContext(ROOT_CONTEXT, { ...caller, isRemote: true }) : ROOT_CONTEXT
      const links = caller !== null && !trusted ? [{ context: caller }] : []
      const attributes: Attributes = { 'http.request.method': method, 'agentgym.request_id': requestId }
      const span = tracer.startSpan(method, { kind: SpanKind.SERVER, attributes, links }, context)
      return {
        traceparent: formatTraceparent(span.spanContext()),
        end: ({ route, status, subject }) => {
          span.updateName(`${method} ${route}`)
          span.setAttributes({ 'http.route': route, 'http.response.status_code': status })
          for (const [name, value] of Object.entries(subject)) span.setAttribute(`agentgym.${name}`, value)
          if (status >= 500) span.setAttribute('error.type', String(status)).setStatus({ code: SpanStatusCode.ERROR })
          span.end()
        },
      }
    },
    close: async () => {
      await provider.shutdown().catch(() => {})
    },
  }
}

/** https://www.w3.org/TR/trace-context/#traceparent-header */
function formatTraceparent({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`
}

/** The exporter, with a log line if it fails. Failures lose spans, never requests. */
function telling(exporter: SpanExporter, log: Log): SpanExporter {
  let toldMs = Number.NEGATIVE_INFINITY
  return {
    export: (spans: ReadableSpan[], done: (result: ExportResult) => void) =>
      exporter.export(spans, (result) => {
        if (result.error !== undefined && performance.now() - toldMs > TELL_EVERY_MS) {
          toldMs = performance.now()
          log.warn('traces could not be sent', { spans: spans.length, error: result.error.message })
        }
        done(result)
      }),
    shutdown: () => exporter.shutdown(),
    forceFlush: async () => exporter.forceFlush?.(),
  }
}

/** The library does not read OTEL_TRACES_SAMPLER itself. */
function createSampler({ name, ratio }: TracingSettings['sampler']): Sampler {
  const root = {
    always_on: () => new AlwaysOnSampler(),
    always_off: () => new AlwaysOffSampler(),
    traceidratio: () => new TraceIdRatioBasedSampler(ratio),
  }[name.replace('parentbased_', '') as 'always_on' | 'always_off' | 'traceidratio']()
  return name.startsWith('parentbased_') ? new ParentBasedSampler({ root }) : root
}
