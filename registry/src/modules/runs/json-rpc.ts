import { AgentGymError, type ErrorReport, errorCatalog } from '@agentgym/contract'

/** JSON-RPC 2.0: https://www.jsonrpc.org/specification */

/** Kept verbatim; a number that JavaScript would round is an object that serializes to its original text. */
export type RpcId = string | number | null | RawNumber
export type RpcError = { code: number; message: string; data: ErrorReport }
export type RpcResponse = { jsonrpc: '2.0'; id: RpcId } & ({ result: unknown } | { error: RpcError })

type Params = Record<string, unknown>

export type RpcServer = {
  /** Handlers of the methods, with params by name. They throw AgentGymErrors. */
  methods: Readonly<Record<string, (params: Params) => Promise<unknown>>>
  /** Logs an outage or a bug and returns the client's error. */
  fault: (error: unknown) => ErrorReport
}

const mostRequests = 50
/** Far deeper than the params of any method. */
const deepest = 32

const parseError = { code: -32700, message: 'Parse error' }
const invalidRequest = { code: -32600, message: 'Invalid Request' }
const methodNotFound = { code: -32601, message: 'Method not found' }
const invalidParams = { code: -32602, message: 'Invalid params' }
const internalError = { code: -32603, message: 'Internal error' }

/**
 * Handles a request or a batch from the bytes of a body. A batch is processed and answered in order. Undefined if it
 * contains only notifications, which have no response.
 */
export async function answerRpc(
  bytes: ArrayBuffer,
  server: RpcServer,
): Promise<RpcResponse | RpcResponse[] | undefined> {
  let body: unknown
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    const fault = depthFault(text)
    if (fault !== undefined) return refusal(null, parseError, fault)
    body = parse(text)
  } catch (error) {
    return refusal(null, parseError, `The body is not JSON: ${(error as Error).message}.`)
  }
  if (!Array.isArray(body)) return answerOne(body, server)
  if (body.length === 0) return refusal(null, invalidRequest, 'The batch is empty.')
  if (body.length > mostRequests)
    return refusal(null, invalidRequest, `The batch has ${body.length} requests; ${mostRequests} are the most.`)
  const responses: RpcResponse[] = []
  for (const request of body) {
    const response = await answerOne(request, server)
    if (response !== undefined) responses.push(response)
  }
  return responses.length === 0 ? undefined : responses
}

/** Refuses other content types. */
export function notJson(type: string): RpcResponse {
  return refusal(
    null,
    invalidRequest,
    `The content type must be application/json, not ${JSON.stringify(type.slice(0, 80))}.`,
  )
}

/**
 * The specification's codes if it has one; others in the range that it leaves to servers, by REST's status: -32001 for
 * 401, -32003 for 403, -32004 for 404, -32009 for 409, -32022 for 422, -32029 for 429, and -32053 for 503. `data`
 * contains the whole error.
 */
export function rpcErrorOf(report: ErrorReport): RpcError {
  const { status } = errorCatalog[report.code]
  if (report.code === 'request_invalid' || report.code === 'config_invalid') return { ...invalidParams, data: report }
  if (status === 500) return { ...internalError, data: report }
  const code = status >= 500 ? -32050 - (status - 500) : -32000 - (status - 400)
  return { code, message: report.message, data: report }
}

async function answerOne(request: unknown, server: RpcServer): Promise<RpcResponse | undefined> {
  if (!isRecord(request)) return refusal(null, invalidRequest, 'A request must be an object.')
  const notification = !Object.hasOwn(request, 'id')
  const id = notification ? null : request.id
  if (!isId(id)) return refusal(null, invalidRequest, 'The id of a request must be a string, a number or null.')
  const { jsonrpc, method, params = {} } = request
  if (jsonrpc !== '2.0') return refusal(id, invalidRequest, 'The field "jsonrpc" of a request must be "2.0".')
  if (typeof method !== 'string') return refusal(id, invalidRequest, 'The method of a request must be a string.')
  if (!isRecord(params) && !Array.isArray(params))
    return refusal(id, invalidRequest, 'The params of a request must be an object or an array.')
  const response = await outcome(id, method, params, server)
  return notification ? undefined : response
}

async function outcome(
  id: RpcId,
  method: string,
  params: Params | unknown[],
  { methods, fault }: RpcServer,
): Promise<RpcResponse> {
  if (!Object.hasOwn(methods, method)) {
    const message = `Unknown method ${JSON.stringify(method.slice(0, 100))}.`
    const data: ErrorReport = {
      code: 'endpoint_not_found',
      message,
      hint: `Methods: ${Object.keys(methods).join(', ')}.`,
    }
    return { jsonrpc: '2.0', error: { ...methodNotFound, data }, id }
  }
  // An empty list is as good as an empty object.
  if (Array.isArray(params) && params.length > 0)
    return refusal(id, invalidParams, 'Pass params by name, as an object.')
  try {
    return { jsonrpc: '2.0', result: await methods[method](Array.isArray(params) ? {} : params), id }
  } catch (error) {
    const report = error instanceof AgentGymError ? error.toReport() : fault(error)
    return { jsonrpc: '2.0', error: rpcErrorOf(report), id }
  }
}

function refusal(id: RpcId, kind: { code: number; message: string }, message: string): RpcResponse {
  return { jsonrpc: '2.0', error: { ...kind, data: { code: 'request_invalid', message } }, id }
}

function isRecord(value: unknown): value is Params {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof RawNumber)
}

function isId(value: unknown): value is RpcId {
  return value === null || typeof value === 'string' || typeof value === 'number' || value instanceof RawNumber
}

/** A number in its original spelling. Only an ID may be one: no param accepts it. */
class RawNumber {
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  toJSON(): unknown {
    return rawJSON(this.#text)
  }
}

/** JSON.parse with source text access (ECMAScript 2026), which Node has and TypeScript's library does not. */
const { rawJSON } = JSON as unknown as { rawJSON(text: string): object }
const parseWithSource = JSON.parse as (
  text: string,
  reviver: (key: string, value: unknown, context: { source?: string }) => unknown,
) => unknown

function parse(text: string): unknown {
  return parseWithSource(text, (key, value, { source }) =>
    key === 'id' && typeof value === 'number' && source !== undefined && String(value) !== source
      ? new RawNumber(source)
      : value,
  )
}

/** The error for too deeply nested text, checked before any recursive processing. */
function depthFault(text: string): string | undefined {
  let depth = 0
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"?|[[{]|[\]}]/g)) {
    if (token === '[' || token === '{') depth++
    else if (token === ']' || token === '}') depth--
    if (depth > deepest) return `The body is nested more than ${deepest} deep.`
  }
  return undefined
}
