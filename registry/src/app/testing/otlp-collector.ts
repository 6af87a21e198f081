import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import protobuf from 'protobufjs'

/** The part of opentelemetry-proto's trace.proto that is checked, with its field numbers. */
const schema = `
  syntax = "proto3";
  package otlp;
  message Request { repeated ResourceSpans resource_spans = 1; }
  message ResourceSpans { Resource resource = 1; repeated ScopeSpans scope_spans = 2; }
  message Resource { repeated KeyValue attributes = 1; }
  message ScopeSpans { repeated Span spans = 2; }
  message Span {
    bytes trace_id = 1;
    bytes span_id = 2;
    bytes parent_span_id = 4;
    string name = 5;
    int32 kind = 6;
    repeated KeyValue attributes = 9;
    repeated Link links = 13;
    Status status = 15;
  }
  message Link { bytes trace_id = 1; bytes span_id = 2; }
  message Status { string message = 2; int32 code = 3; }
  message KeyValue { string key = 1; AnyValue value = 2; }
  message AnyValue { oneof value { string string_value = 1; bool bool_value = 2; int64 int_value = 3; double double_value = 4; } }
`
const Request = protobuf.parse(schema, { keepCase: true }).root.lookupType('otlp.Request')

type KeyValue = { key: string; value: Record<string, unknown> & { value: string } }
type WireSpan = {
  trace_id: Uint8Array
  span_id: Uint8Array
  parent_span_id: Uint8Array
  name: string
  kind: number
  attributes: KeyValue[]
  links: { trace_id: Uint8Array; span_id: Uint8Array }[]
  status?: { code: number }
}

export type CollectedSpan = {
  traceId: string
  spanId: string
  /** Null for the first of a trace. */
  parentSpanId: string | null
  name: string
  kind: number
  attributes: Record<string, unknown>
  links: { traceId: string; spanId: string }[]
  failed: boolean
  /** Attributes of the process. */
  resource: Record<string, unknown>
}

export type OtlpCollector = {
  /** For OTEL_EXPORTER_OTLP_ENDPOINT. */
  url: string
  spans: CollectedSpan[]
  /** Headers of the requests that brought them. */
  headers: Record<string, unknown>[]
  /** Resolves to the spans once there is one of that name; there is no limit of time but the test's. */
  until(name: string): Promise<CollectedSpan[]>
  close(): Promise<void>
}

/** A collector of OTLP over HTTP (protobuf) in this process. */
export async function startCollector(): Promise<OtlpCollector> {
  const spans: CollectedSpan[] = []
  const headers: OtlpCollector['headers'] = []
  const waiting = new Set<() => void>()
  const server = createServer(async (request, response) => {
    const known = request.url === '/v1/traces' && request.headers['content-type'] === 'application/x-protobuf'
    headers.push(request.headers)
    const body = await buffer(request)
    if (known) spans.push(...decode(body))
    response.writeHead(known ? 200 : 404, { 'content-type': 'application/x-protobuf' }).end()
    for (const look of waiting) look()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    headers,
    until: async (name) => {
      while (!spans.some((span) => span.name === name))
        await new Promise<void>((resolve) => {
          waiting.add(resolve)
        })
      return spans
    },
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function decode(body: Uint8Array): CollectedSpan[] {
  const request = Request.toObject(Request.decode(body), { longs: Number, oneofs: true, arrays: true }) as {
    resource_spans: { resource?: { attributes: KeyValue[] }; scope_spans: { spans: WireSpan[] }[] }[]
  }
  return request.resource_spans.flatMap(({ resource, scope_spans }) =>
    scope_spans.flatMap(({ spans }) =>
      spans.map((span) => ({
        traceId: hex(span.trace_id),
        spanId: hex(span.span_id),
        parentSpanId: span.parent_span_id?.length ? hex(span.parent_span_id) : null,
        name: span.name,
        kind: span.kind,
        attributes: valuesOf(span.attributes),
        links: span.links.map((link) => ({ traceId: hex(link.trace_id), spanId: hex(link.span_id) })),
        failed: span.status?.code === 2,
        resource: valuesOf(resource?.attributes ?? []),
      })),
    ),
  )
}

function valuesOf(attributes: KeyValue[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, value[value.value]]))
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}
