import type { ApiMethod, apiRoutes } from '@agentgym/contract'
import type { z } from 'zod'
import { readFailure, unreachable } from './read-failure.ts'

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
    if (!response.ok) throw await readFailure(response)
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
