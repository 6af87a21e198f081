/** Makes a span of every request. Here only what the server needs of it: the library is loaded where tracing is on. */
export type RequestTracer = {
  start(request: TracedRequest): RequestSpan
  /** Sends what is left. Does not fail; waits for a collector that does not answer for a few seconds at most. */
  close(): Promise<void>
}

type TracedRequest = {
  method: string
  requestId: string
  /** The header as it came. */
  traceparent: string | undefined
  /** Whether the caller's trace is gone on with. A stranger's is linked to, for it might be anybody's. */
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
