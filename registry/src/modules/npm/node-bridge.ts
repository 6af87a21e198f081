import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { PassThrough } from 'node:stream'
import { webStream } from '../../core/storage/object-store.ts'

export type BridgedRequest = { method: 'GET' | 'HEAD'; path: string; headers: Record<string, string> }

/** A response in progress. */
export type BridgedResponse = {
  response: ServerResponse
  /** Resolves when status and headers are sent. */
  head: Promise<{ status: number; headers: Headers }>
  body: PassThrough
  /** Aborts the response: `head` rejects or, if it was already sent, the body fails. */
  fail(error: Error): void
}

/**
 * Calls a listener of Node's `http`, such as an Express app, and returns its answer as a Fetch response. No port is
 * involved, and the listener sees only the parts of the client's request that are passed here. The body streams at the
 * client's pace. If the client disconnects (`signal`, or a cancelled body), `body` closes. Rejects if the listener
 * fails before it has answered.
 */
export async function askNodeListener(
  listener: (request: IncomingMessage, bridged: BridgedResponse) => void,
  source: BridgedRequest,
  signal?: AbortSignal,
): Promise<Response> {
  if (signal?.aborted) throw clientGone()
  const request = new IncomingMessage(new Socket())
  Object.assign(request, { method: source.method, url: source.path, headers: source.headers })
  Object.assign(request, { httpVersion: '1.1', httpVersionMajor: 1, httpVersionMinor: 1 })
  request.push(null)
  const bridged = bridgeResponse(request)
  const { body, head } = bridged
  const abort = () => bridged.fail(clientGone())
  signal?.addEventListener('abort', abort, { once: true })
  body.once('close', () => signal?.removeEventListener('abort', abort))
  listener(request, bridged)
  const { status, headers } = await head
  if (hasBody(request, status)) return new Response(webStream(body), { status, headers })
  body.resume()
  return new Response(null, { status, headers })
}

const clientGone = () => new Error('the client disconnected')

function hasBody({ method }: IncomingMessage, status: number): boolean {
  return method !== 'HEAD' && status !== 204 && status !== 304
}

/**
 * A response that writes to a stream instead of a socket. Overrides are set on the object itself, because Express
 * replaces its prototype.
 */
function bridgeResponse(request: IncomingMessage): BridgedResponse {
  const response = new ServerResponse(request)
  const body = new PassThrough()
  const { promise: head, resolve, reject } = Promise.withResolvers<{ status: number; headers: Headers }>()
  body.on('drain', () => response.emit('drain'))
  body.on('close', () => response.emit('close'))
  // Failures reach the readers of body and head; without readers they do not matter.
  body.on('error', () => {})
  head.catch(() => {})
  const writeHead = (status: number, ...rest: unknown[]) => {
    for (const [name, value] of Object.entries(rest.findLast((value) => typeof value === 'object') ?? {}))
      response.setHeader(name, value)
    ServerResponse.prototype.writeHead.call(response, status)
    const headers = new Headers()
    for (const [name, value] of Object.entries(response.getHeaders()))
      for (const one of [value].flat()) headers.append(name, String(one))
    resolve({ status, headers })
    return response
  }
  const write = (chunk: string | Uint8Array, ...rest: unknown[]) => {
    if (!response.headersSent) response.writeHead(response.statusCode)
    const written = rest.find((value) => typeof value === 'function')
    if (written !== undefined) process.nextTick(written as () => void)
    return hasBody(request, response.statusCode) ? body.write(toBytes(chunk, rest[0])) : true
  }
  const end = (...parameters: unknown[]) => {
    if (response.writableEnded) return response
    const [chunk] = parameters
    if (typeof chunk === 'string' || chunk instanceof Uint8Array) response.write(chunk, parameters[1] as BufferEncoding)
    else if (!response.headersSent) response.writeHead(response.statusCode)
    response.finished = true
    body.end()
    const ended = parameters.find((value) => typeof value === 'function')
    process.nextTick(() => {
      response.emit('finish')
      ;(ended as (() => void) | undefined)?.()
    })
    return response
  }
  Object.assign(response, { writeHead, write, end })
  const fail = (error: Error) => {
    reject(error)
    body.destroy(error)
  }
  return { response, head, body, fail }
}

function toBytes(chunk: string | Uint8Array, encoding: unknown): Uint8Array {
  return typeof chunk === 'string' ? Buffer.from(chunk, encoding as BufferEncoding) : chunk
}
