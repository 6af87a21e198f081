import { AgentGymError, type ApiMethod, type apiRoutes, type ErrorCode, errorCatalog } from '@agentgym/contract'
import type { z } from 'zod'

export type ClientOptions = {
  /** Address of the server: `https://gym.example.com`. */
  server: string
  /** `agt_…`. Requests are anonymous without it. */
  token?: string
  fetch?: typeof globalThis.fetch
}

/**
 * Every route of the API whose requests and responses are JSON, typed by the contract's schemas:
 * `(await client.GET('/v1/runs/{id}', { params: { path: { id } } })).data`. A failure is thrown as the AgentGymError that the
 * server sent, or as `server_unreachable`, so `data` is always what the route returns. Responses are not validated.
 */
export type Client = { readonly [Method in ApiMethod]: Call<Method> } & {
  readonly server: string
  /** Any other request, to a path or an absolute address: uploads, downloads, streams. Throws the same errors. */
  send(address: string, init?: RequestInit): Promise<Response>
}

type Call<Method extends ApiMethod> = <Path extends JsonPath<Method>>(
  path: Path,
  ...options: Arguments<RequestOptions<RouteOf<Method, Path>, Path>>
) => Promise<{ data: Data<RouteOf<Method, Path>>; response: Response }>

type Routes = typeof apiRoutes
type RouteOf<Method extends ApiMethod, Path extends string> = Routes[Extract<`${Method} ${Path}`, keyof Routes>]

/** Paths of a method's routes, but for those whose body or response is a media type. */
type JsonPath<Method extends ApiMethod> = {
  [Key in keyof Routes]: Key extends `${Method} ${infer Path}`
    ? Routes[Key] extends { body: string } | { response: string }
      ? never
      : Path
    : never
}[keyof Routes]

type Data<Route> = Route extends { response: infer Schema extends z.ZodType }
  ? z.output<Schema> | (Route extends { mayBeEmpty: true } ? undefined : never)
  : undefined

type RequestOptions<Route, Path> = Field<'params', Parameters<Route, Path>> &
  Field<'body', Route extends { body: infer Schema extends z.ZodType } ? z.input<Schema> : never> & {
    signal?: AbortSignal
  }

type Parameters<Route, Path> = Field<
  'path',
  [NameIn<Path>] extends [never] ? never : { [Name in NameIn<Path>]: string | number }
> &
  Field<'query', Route extends { query: infer Schema extends z.ZodObject } ? Sent<Schema> : never> &
  Field<'header', Route extends { headers: infer Schema extends z.ZodObject } ? Sent<Schema> : never>

type NameIn<Path> = Path extends `${string}{${infer Name}}${infer Rest}` ? Name | NameIn<Rest> : never

/** What is coerced from text has the input type `unknown`: the types are those after parsing, the optional keys those before. */
type Sent<Schema extends z.ZodObject> = {
  [Key in keyof z.input<Schema>]: Key extends keyof z.output<Schema> ? z.output<Schema>[Key] : never
}

/** A property that may be left out where everything in it may. */
type Field<Key extends string, Value> = [Value] extends [never]
  ? { [_ in Key]?: never }
  : object extends Value
    ? { [_ in Key]?: Value }
    : { [_ in Key]: Value }

type Arguments<Options> = object extends Options ? [options?: Options] : [options: Options]

type AnyOptions = {
  params?: { path?: Values; query?: Values; header?: Values }
  body?: unknown
  signal?: AbortSignal
}
type Values = Record<string, string | number | boolean | null | undefined>

export function createClient({ server, token, fetch = globalThis.fetch }: ClientOptions): Client {
  const baseUrl = server.replace(/\/+$/, '')
  const authorization: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const checked: typeof globalThis.fetch = async (input, init) => {
    const response = await fetch(input, init).catch((error: unknown) => {
      const { signal } = input instanceof Request ? input : { signal: init?.signal }
      throw signal?.aborted ? error : unreachable(baseUrl, error)
    })
    if (!response.ok) throw await readFailure(response, sizeOf(init?.body))
    return response
  }
  const call = (method: ApiMethod) => async (path: string, options?: AnyOptions) => {
    const response = await checked(requestFor(baseUrl + path, method, authorization, options))
    const text = await response.text()
    return { data: text === '' ? undefined : JSON.parse(text), response }
  }
  return {
    ...({ GET: call('GET'), POST: call('POST'), PUT: call('PUT'), DELETE: call('DELETE') } as Omit<
      Client,
      'server' | 'send'
    >),
    server: baseUrl,
    send: (address, init = {}) => {
      const url = new URL(address, `${baseUrl}/`)
      // The token is sent to this server only, whatever address the server returned.
      const own = url.origin === new URL(baseUrl).origin ? authorization : {}
      return checked(url, { ...init, headers: { ...own, ...(init.headers as Record<string, string>) } })
    },
  }
}

function requestFor(
  address: string,
  method: ApiMethod,
  authorization: Record<string, string>,
  { params: { path = {}, query = {}, header = {} } = {}, body, signal }: AnyOptions = {},
): Request {
  const url = address.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(path[name])))
  const search = new URLSearchParams(given(query)).toString()
  return new Request(search === '' ? url : `${url}?${search}`, {
    method,
    headers: {
      ...authorization,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...Object.fromEntries(given(header)),
    },
    body: body === undefined ? undefined : JSON.stringify(body),
    signal,
  })
}

function given(values: Values): [name: string, value: string][] {
  return Object.entries(values).flatMap(([name, value]) =>
    value === undefined || value === null ? [] : [[name, String(value)]],
  )
}

/** Codes for failures with an unknown body or code, from a proxy or a newer server. */
const codeOfStatus: Record<number, ErrorCode> = {
  401: 'unauthenticated',
  402: 'payment_required',
  403: 'forbidden',
  404: 'endpoint_not_found',
  410: 'package_taken_down',
  413: 'request_too_large',
  429: 'rate_limited',
}

/** The error in a response, as thrown on the server; below `/npm/` in npm's form. Reads the body. */
async function readFailure(response: Response, bytes: number | undefined): Promise<AgentGymError> {
  const text = await response.text().catch(() => '')
  const report = reportIn(text)
  if (response.status === 413 && report === undefined) return refusedByProxy(response, bytes)
  const requestId = response.headers.get('x-request-id')
  const data = {
    ...retryAfterIn(response.headers),
    ...(report?.data as object | undefined),
    ...(requestId === null ? {} : { request_id: requestId }),
  }
  return new AgentGymError({
    code: report !== undefined && isKnown(report.code) ? report.code : codeFor(response.status),
    message: typeof report?.message === 'string' ? report.message : foreign(response),
    hint: typeof report?.hint === 'string' ? report.hint : undefined,
    data: { ...data, status: response.status },
  })
}

/** A limit on bodies that is not the server's: its own refusals are in its own form. */
function refusedByProxy({ url }: Response, bytes: number | undefined): AgentGymError {
  const { origin } = new URL(url)
  const size = bytes === undefined ? '' : ` of ${bytes.toLocaleString('en-US')} bytes`
  return new AgentGymError({
    code: 'request_too_large',
    message: `The proxy in front of ${origin} refused a request body${size} (status 413).`,
    hint: 'Raise its limit: `client_max_body_size` in nginx, `request_body max_size` in Caddy. docs/proxies.md has complete configurations.',
    data: { status: 413, refused_by: 'proxy', server: origin, ...(bytes === undefined ? {} : { bytes }) },
  })
}

/** Whether a proxy in front of the server refused a request for its size. */
export function isRefusedByProxy(error: unknown): error is AgentGymError {
  return error instanceof AgentGymError && error.data.refused_by === 'proxy'
}

function sizeOf(body: RequestInit['body']): number | undefined {
  if (body instanceof Uint8Array) return body.byteLength
  return typeof body === 'string' ? new TextEncoder().encode(body).length : undefined
}

/** When a proxy, or an error in npm's form, says to try again. */
function retryAfterIn(headers: Headers): { retry_after_seconds?: number } {
  const text = headers.get('retry-after') ?? ''
  return /^\d{1,6}$/.test(text) ? { retry_after_seconds: Number(text) } : {}
}

/** The server could not be reached; `cause` may say why. */
function unreachable(server: string, cause: unknown): AgentGymError {
  return new AgentGymError(
    {
      code: 'server_unreachable',
      message: `The server ${server} did not answer${reasonOf(cause)}.`,
      hint: 'Start it with `agentgym serve`, or set AGENTGYM_SERVER to its address.',
      data: { server },
    },
    { cause },
  )
}

function reasonOf(error: unknown): string {
  const inner = error instanceof Error && error.cause instanceof Error ? error.cause : error
  if (!(inner instanceof Error)) return ''
  const code = (inner as { code?: unknown }).code
  return typeof code === 'string' ? ` (${code})` : inner.message === '' ? '' : ` (${inner.message})`
}

function reportIn(text: string): Record<string, unknown> | undefined {
  try {
    const body: unknown = JSON.parse(text)
    if (typeof body !== 'object' || body === null) return undefined
    const { error, code } = body as { error?: unknown; code?: unknown }
    // npm's form: one line of text, with the code beside it.
    if (typeof error === 'string') return { message: error, code }
    return typeof error === 'object' && error !== null ? (error as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

function isKnown(code: unknown): code is ErrorCode {
  return typeof code === 'string' && Object.hasOwn(errorCatalog, code)
}

function codeFor(status: number): ErrorCode {
  return codeOfStatus[status] ?? (status >= 500 ? 'internal_error' : 'request_invalid')
}

function foreign({ status, statusText, url }: Response): string {
  return `The server answered ${status}${statusText === '' ? '' : ` ${statusText}`} to ${new URL(url).pathname}.`
}
