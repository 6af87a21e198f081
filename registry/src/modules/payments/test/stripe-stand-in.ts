import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Form, parseForm } from './form-body.ts'
import { signStripeEvent } from './sign-stripe-event.ts'
import { type Answer, createStripeBooks, type StripeBooks } from './stripe-books.ts'

/** What goes wrong with the next request to a path: nothing is done, or it is done and nobody hears of it. */
export type Fault = 'lost_request' | 'lost_answer' | 'fails'

export type StripeStandIn = {
  address: string
  secretKey: string
  webhookSecret: string
  books: StripeBooks
  /** The next request that begins so: `POST /v1/transfers`. */
  fault(request: string, fault: Fault): void
  /** Called with each request once it has been done, before it is answered. */
  beforeAnswer: (request: string) => void | Promise<void>
  /** `METHOD path` of everything that was asked. */
  asked: string[]
  close(): Promise<void>
}

/**
 * Stripe, as far as we speak with it: the requests that its documentation describes, form-encoded, with bearer key and
 * idempotency keys; and its webhooks, signed. `books` is its side: what was paid, and what it would tell.
 */
export async function startStripeStandIn(): Promise<StripeStandIn> {
  const faults: { request: string; fault: Fault }[] = []
  const remembered = new Map<string, { body: string; answer: Answer }>()
  const books = createStripeBooks()
  const server = createServer((request, response) => void serve(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const standIn: StripeStandIn = {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    secretKey: 'sk_test_standin1234567890',
    webhookSecret: 'whsec_standin1234567890',
    books,
    fault: (request, fault) => faults.push({ request, fault }),
    beforeAnswer: () => {},
    asked: [],
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await textOf(request)
    const name = `${request.method} ${request.url}`
    standIn.asked.push(name)
    const index = faults.findIndex((planned) => name.startsWith(planned.request))
    const [planned] = index === -1 ? [] : faults.splice(index, 1)
    if (planned?.fault === 'lost_request') return void request.socket.destroy()
    if (planned?.fault === 'fails') return send(response, refused(500, 'api_error', 'Stripe itself failed.'))
    const answer =
      request.headers.authorization === `Bearer ${standIn.secretKey}`
        ? answered(request, body)
        : refused(401, 'invalid_request_error', 'Invalid API Key provided.')
    await standIn.beforeAnswer(name)
    if (planned?.fault === 'lost_answer') return void request.socket.destroy()
    send(response, answer)
  }

  /** As Stripe does it: the first answer under a key is the answer, and another request under it is an error. */
  function answered(request: IncomingMessage, body: string): Answer {
    const key = request.headers['idempotency-key']
    const first = request.method === 'POST' && typeof key === 'string' ? remembered.get(key) : undefined
    if (first !== undefined)
      return first.body === `${request.url}?${body}`
        ? first.answer
        : refused(400, 'idempotency_error', 'Keys for idempotent requests can only be used with the same parameters.')
    const answer = route(books, request, parseForm(body))
    if (typeof key === 'string' && answer.status < 500) remembered.set(key, { body: `${request.url}?${body}`, answer })
    return answer
  }
  return standIn
}

function route(books: StripeBooks, { method, url = '' }: IncomingMessage, form: Form): Answer {
  const { pathname, searchParams } = new URL(url, 'http://stripe')
  const [, , ...parts] = pathname.split('/')
  const [collection, id, action] = parts[0] === 'checkout' ? parts.slice(1) : parts
  if (method === 'POST' && action === 'expire') return books.expireSession(id)
  if (method === 'POST' && id === undefined) {
    if (collection === 'sessions') return books.createSession(form)
    if (collection === 'accounts') return books.createAccount(form)
    if (collection === 'account_links') return books.createAccountLink(form)
    if (collection === 'transfers') return books.createTransfer(form)
  }
  if (method === 'GET' && collection === 'transfers')
    return books.listTransfers(searchParams.get('transfer_group') ?? '')
  if (method === 'GET' && id !== undefined) return books.retrieve(id)
  return refused(404, 'invalid_request_error', `Unrecognized request URL (${method}: ${pathname}).`)
}

function refused(status: number, type: string, message: string, code?: string): Answer {
  return { status, body: { error: { type, message, ...(code === undefined ? {} : { code }) } } }
}

function send(response: ServerResponse, { status, body }: Answer): void {
  response.writeHead(status, { 'content-type': 'application/json', 'request-id': 'req_standin' })
  response.end(JSON.stringify(body))
}

async function textOf(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = []
  for await (const piece of request) pieces.push(piece)
  return Buffer.concat(pieces).toString()
}

export type Delivery = { at?: Date; secret?: string; alter?: (body: string) => string }

/** Sends an event to our webhook as Stripe does, or as somebody does who would like to be Stripe. */
export async function deliver(
  { webhookSecret }: Pick<StripeStandIn, 'webhookSecret'>,
  server: string,
  event: unknown,
  { at = new Date(), secret = webhookSecret, alter = (body) => body }: Delivery = {},
): Promise<number> {
  const body = JSON.stringify(event, null, 2)
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    'stripe-signature': signStripeEvent(body, secret, at),
  }
  const response = await fetch(`${server}/v1/webhooks/stripe`, { method: 'POST', headers, body: alter(body) })
  await response.arrayBuffer()
  return response.status
}
