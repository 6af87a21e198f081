import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

export type CloudRequest = { method: string; path: string; query: URLSearchParams; body: Record<string, unknown> }
export type CloudAnswer = { status: number; body?: unknown }

/**
 * What happens to a request: it is lost before the cloud has it, its answer is lost after the cloud has done it, or the
 * cloud answers with a status of its own and does nothing.
 */
export type Fault = 'request_lost' | 'answer_lost' | number

export type CloudServer = {
  url: string
  /** Requests so far, such as `POST /v2/pods`. */
  requests: string[]
  /** Decides on the fate of each request; by default all are answered. */
  fault: ((request: CloudRequest, number: number) => Fault | undefined | Promise<Fault | undefined>) | undefined
  close(): Promise<void>
}

/** A cloud's API on this machine: `answer` does what the cloud does. */
export async function startCloud(
  token: string,
  answer: (request: CloudRequest) => CloudAnswer,
  unauthorized: CloudAnswer,
): Promise<CloudServer> {
  const cloud: CloudServer = { url: '', requests: [], fault: undefined, close: async () => {} }
  const server = createServer(async (incoming, outgoing) => {
    const url = new URL(incoming.url ?? '/', 'http://localhost')
    const { pathname: path, searchParams: query } = url
    const request = { method: incoming.method ?? 'GET', path, query, body: await bodyOf(incoming) }
    const number = cloud.requests.push(`${request.method} ${path}`)
    const fault = await cloud.fault?.(request, number)
    if (fault === 'request_lost') return void incoming.socket.destroy()
    const allowed = incoming.headers.authorization === `Bearer ${token}`
    const done = typeof fault === 'number' ? { status: fault } : allowed ? answer(request) : unauthorized
    if (fault === 'answer_lost') return void incoming.socket.destroy()
    outgoing.writeHead(done.status, { 'content-type': 'application/json' })
    outgoing.end(done.body === undefined ? '' : JSON.stringify(done.body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  cloud.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  cloud.close = () =>
    new Promise((resolve) => {
      server.closeAllConnections()
      server.close(() => resolve())
    })
  return cloud
}

async function bodyOf(incoming: IncomingMessage): Promise<Record<string, unknown>> {
  let text = ''
  for await (const chunk of incoming.setEncoding('utf8')) text += chunk
  return text === '' ? {} : JSON.parse(text)
}

/** What costs money at a fake cloud, for a test's assertions. */
export type Rented = { id: string; name: string; env: Record<string, string> }

/** Keys of a request that the API does not know, which it refuses. */
export function unknownKeys(body: object, known: readonly string[]): string[] {
  return Object.keys(body).filter((key) => !known.includes(key))
}
