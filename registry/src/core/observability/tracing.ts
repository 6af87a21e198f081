import { z } from 'zod'

/**
 * Creates a span for every request. Declares only what the server needs, so that the library is loaded only if tracing
 * is on.
 */
export type RequestTracer = {
  start(request: TracedRequest): RequestSpan
  /** Sends the remaining spans. Never rejects; waits a few seconds at most for an unresponsive collector. */
  close(): Promise<void>
}

type TracedRequest = {
  method: string
  requestId: string
  /** The unparsed header. */
  traceparent: string | undefined
  /** Whether to continue the caller's trace. An untrusted one is only linked, because anyone could have sent it. */
  trusted: boolean
}

type RequestSpan = {
  /** W3C trace context of the span: `00-<trace id>-<span id>-<flags>`. */
  traceparent: string
  end(answer: TracedAnswer): void
}

type TracedAnswer = {
  /** Pattern of the route: `/v1/runs/{id}`. */
  route: string
  status: number
  /** What the request is about: `run_id`, `job_id`. */
  subject: { run_id?: string; job_id?: string }
}

const samplers = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const

const collector = z
  .string()
  .refine((text) => /^https?:$/.test(URL.parse(text)?.protocol ?? ''), 'a URL with http: or https:')

/**
 * The standard variables of OpenTelemetry that we read ourselves; its library reads those of the exporter (headers,
 * certificates, compression) and of the resource.
 */
export const tracingVariables = {
  OTEL_EXPORTER_OTLP_ENDPOINT: collector,
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: collector,
  OTEL_EXPORTER_OTLP_PROTOCOL: z.literal('http/protobuf', 'http/protobuf, the only supported protocol'),
  OTEL_TRACES_SAMPLER: z.enum(samplers, `one of ${samplers.join(', ')}`),
  OTEL_TRACES_SAMPLER_ARG: z
    .string()
    .regex(/^(0(\.\d*)?|1(\.0*)?|\.\d+)$/, 'a number from 0 to 1')
    .transform(Number),
}

export type TracingSettings = {
  /** Full URL of the collector. */
  url: string
  sampler: { name: (typeof samplers)[number]; ratio: number }
}

/** Whether an endpoint is set, and tracing not switched off. */
export function isTracingWanted(environment: NodeJS.ProcessEnv): boolean {
  const { OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, OTEL_SDK_DISABLED = '' } = environment
  if (OTEL_SDK_DISABLED.toLowerCase() === 'true') return false
  return Boolean(OTEL_EXPORTER_OTLP_ENDPOINT || OTEL_EXPORTER_OTLP_TRACES_ENDPOINT)
}

/** Null if tracing is off. */
export function tracingSettings(
  read: {
    [Name in keyof typeof tracingVariables]?: z.output<(typeof tracingVariables)[Name]>
  },
): TracingSettings | null {
  const base = read.OTEL_EXPORTER_OTLP_ENDPOINT
  const url = read.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? (base && `${base.replace(/\/+$/, '')}/v1/traces`)
  if (url === undefined) return null
  return {
    url,
    sampler: { name: read.OTEL_TRACES_SAMPLER ?? 'parentbased_always_on', ratio: read.OTEL_TRACES_SAMPLER_ARG ?? 1 },
  }
}
