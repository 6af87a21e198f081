import { createHmac, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A fault of the next request to a path: nothing is done, or it is done without a response. */
type Fault = 'lost_request' | 'lost_answer' | 'fails'

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
  requested: string[]
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
    requested: [],
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await textOf(request)
    const name = `${request.method} ${request.url}`
    standIn.requested.push(name)
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

/** Sends an event to our webhook like Stripe, or like an impostor. */
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

type Answer = { status: number; body: unknown }
type Thing = { id: string; object: string; [field: string]: unknown }
type StripeEvent = { id: string; object: 'event'; type: string; created: number; data: { object: Thing } }

type StripeBooks = ReturnType<typeof createStripeBooks>

/** Stripe's state: objects by ID, and the events about them. */
function createStripeBooks() {
  const things = new Map<string, Thing>()
  const books: Books = {
    keep: (thing) => {
      things.set(thing.id, thing)
      return thing
    },
    get: (id) => {
      const thing = things.get(id)
      if (thing === undefined) throw new Error(`Stripe has no ${id}`)
      return thing
    },
    has: (id) => things.has(id),
    all: (object) => [...things.values()].filter((thing) => thing.object === object),
  }
  return {
    ...books,
    retrieve: (id: string): Answer => (things.has(id) ? ok(books.get(id)) : missing(id)),
    ...checkoutOf(books),
    ...connectOf(books),
    ...paymentEvents(books),
    ...connectEvents(books),
    event,
  }
}

type Books = {
  keep<Kept extends Thing>(thing: Kept): Kept
  get(id: string): Thing
  has(id: string): boolean
  all(object: string): Thing[]
}

function checkoutOf({ keep, get }: Books) {
  return {
    createSession(form: Form): Answer {
      const { unit_amount, currency } = priceOf(form)
      const endsIn = Number(form.expires_at) - Date.now() / 1_000
      if (Number(unit_amount) < 50) return invalid('The amount must be at least $0.50 usd.', 'amount_too_small')
      if (!/^[a-z]{3}$/.test(currency)) return invalid(`Invalid currency: ${currency}.`)
      if (form.expires_at !== undefined && (endsIn < 1_800 - 5 || endsIn > 86_400))
        return invalid('The `expires_at` timestamp must be between 30 minutes and 24 hours from now.')
      const id = newId('cs_test')
      const session = { id, object: 'checkout.session', status: 'open', payment_status: 'unpaid', payment_intent: null }
      const url = `https://checkout.stripe.example/c/pay/${id}`
      return ok(keep({ ...session, url, amount_total: Number(unit_amount), currency, ...withMetadata(form) }))
    },
    expireSession(id: string): Answer {
      const session = get(id)
      if (session.status !== 'open') return invalid('Only Checkout Sessions with a status of `open` can be expired.')
      return ok(keep({ ...session, status: 'expired', url: null }))
    },
  }
}

function connectOf({ keep, get, has, all }: Books) {
  /** What lies at Stripe to be paid out. */
  const state = { balanceMinor: Number.POSITIVE_INFINITY }
  return {
    state,
    createAccount(form: Form): Answer {
      const account = { id: newId('acct'), object: 'account', payouts_enabled: false, type: form.type }
      return ok(keep({ ...account, capabilities: { transfers: 'inactive' }, external_accounts: { data: [] } }))
    },
    createAccountLink: ({ account }: Form): Answer =>
      ok({ object: 'account_link', url: `https://connect.stripe.example/setup/${account}`, expires_at: 0 }),
    listTransfers: (group: string): Answer =>
      ok({
        ...{ object: 'list', url: '/v1/transfers', has_more: false },
        data: all('transfer').filter(({ transfer_group }) => transfer_group === group),
      }),
    createTransfer(form: Form): Answer {
      const amount = Number(form.amount)
      const destination = String(form.destination)
      if (!has(destination)) return invalid(`No such destination: '${form.destination}'`, 'resource_missing')
      if ((get(destination).capabilities as Form).transfers !== 'active')
        return invalid(
          'Your destination account needs to have the transfers capability.',
          'insufficient_capabilities_for_transfer',
        )
      if (amount > state.balanceMinor)
        return invalid('You have insufficient funds in your Stripe account.', 'balance_insufficient')
      state.balanceMinor -= amount
      const transfer = { id: newId('tr'), object: 'transfer', amount, amount_reversed: 0, reversed: false }
      return ok(keep({ ...transfer, transfer_group: form.transfer_group, destination, ...withMetadata(form) }))
    },
  }
}

/** Results of payments, each as a Stripe event. */
function paymentEvents({ keep, get }: Books) {
  return {
    /** The payer has paid; `later`: the bank says in some days whether. */
    pay(sessionId: string, { later = false } = {}): StripeEvent {
      const session = get(sessionId)
      const { payment_intent_data: data } = session
      const intent = keep({ id: newId('pi'), object: 'payment_intent', metadata: (data as Form)?.metadata ?? {} })
      const paid = {
        status: 'complete',
        payment_status: later ? 'unpaid' : 'paid',
        payment_intent: intent.id,
        url: null,
      }
      return event('checkout.session.completed', keep({ ...session, ...paid }))
    },
    bankPays(sessionId: string): StripeEvent {
      return event('checkout.session.async_payment_succeeded', keep({ ...get(sessionId), payment_status: 'paid' }))
    },
    bankRefuses: (sessionId: string): StripeEvent => event('checkout.session.async_payment_failed', get(sessionId)),
    expire: (sessionId: string): StripeEvent =>
      event('checkout.session.expired', keep({ ...get(sessionId), status: 'expired' })),
    dispute(sessionId: string, { amount, status = 'needs_response' }: { amount?: number; status?: string } = {}) {
      const { payment_intent, amount_total, currency } = get(sessionId)
      const dispute = {
        id: newId('du'),
        object: 'dispute',
        amount: amount ?? amount_total,
        status,
        reason: 'fraudulent',
      }
      const kept = keep({ ...dispute, payment_intent, currency })
      return {
        created: event('charge.dispute.created', kept),
        withdrawn: event('charge.dispute.funds_withdrawn', kept),
        reinstated: event('charge.dispute.funds_reinstated', { ...kept, status: 'won' }),
      }
    },
    /** Given back on Stripe's own pages: so much in all, up to now. */
    refund(sessionId: string, amountRefunded: number): StripeEvent {
      const { payment_intent } = get(sessionId)
      const { metadata } = get(String(payment_intent))
      const charge = {
        id: `ch_of_${payment_intent}`,
        object: 'charge',
        amount_refunded: amountRefunded,
        payment_intent,
      }
      return event('charge.refunded', keep({ ...charge, metadata }))
    },
  }
}

function connectEvents({ keep, get }: Books) {
  return {
    reverse(transferId: string, amountReversed: number): StripeEvent {
      return event('transfer.reversed', keep({ ...get(transferId), amount_reversed: amountReversed }))
    },
    completeOnboarding(accountId: string, fingerprint: string): StripeEvent {
      const ready = { payouts_enabled: true, capabilities: { transfers: 'active' } }
      const bank = { id: newId('ba'), object: 'bank_account', fingerprint }
      return event('account.updated', keep({ ...get(accountId), ...ready, external_accounts: { data: [bank] } }))
    },
  }
}

const ok = (body: unknown): Answer => ({ status: 200, body })
const newId = (kind: string) => `${kind}_${randomBytes(12).toString('hex')}`
const missing = (id: string): Answer => invalid(`No such object: '${id}'`, 'resource_missing', 404)

function invalid(message: string, code?: string, status = 400): Answer {
  return {
    status,
    body: { error: { type: 'invalid_request_error', message, ...(code === undefined ? {} : { code }) } },
  }
}

function event(type: string, object: Thing): StripeEvent {
  // A copy: an event tells how the object was then.
  const data = { object: structuredClone(object) }
  return { id: newId('evt'), object: 'event', type, created: Math.floor(Date.now() / 1_000), data }
}

function priceOf(form: Form): { unit_amount: string; currency: string } {
  const items = form.line_items as Form
  return (items[0] as Form).price_data as Form as { unit_amount: string; currency: string }
}

/** Numbers of metadata come back as text. */
function withMetadata({ metadata = {}, payment_intent_data = {}, client_reference_id = '' }: Form) {
  return { metadata, payment_intent_data, client_reference_id }
}

type Form = { [key: string]: string | Form }

/** A body as Stripe's clients send it: `line_items[0][price_data][currency]=usd`. */
function parseForm(body: string): Form {
  const form: Form = {}
  for (const [name, value] of new URLSearchParams(body)) {
    const keys = name.split(/[[\]]+/).filter((key) => key !== '')
    let place = form
    for (const key of keys.slice(0, -1)) {
      place[key] ??= {}
      place = place[key] as Form
    }
    place[keys.at(-1) ?? ''] = value
  }
  return form
}

/** The header `stripe-signature`, as docs.stripe.com/webhooks describes it: HMAC-SHA256 over `timestamp.body`. */
function signStripeEvent(body: string, secret: string, at: Date): string {
  const timestamp = Math.floor(at.getTime() / 1_000)
  const signature = createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')
  return `t=${timestamp},v1=${signature},v0=${'0'.repeat(64)}`
}
