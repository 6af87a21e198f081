/** What the server lends to the site. The server has the same types: neither imports the other, the command joins them. */
export type SiteHost = {
  /** Public URL, without a trailing slash. */
  publicUrl: string
  /** Served over TLS. */
  secure: boolean
  /** 32-byte key that signs the site's forms; the same in all replicas. */
  formKey: Uint8Array
  /** Through whom one can log in besides a password: `github`, `google`. */
  oauthProviders: string[]
  /** ISO 4217, of every price. */
  currency: string
  /** Whether payments use test money. */
  testMoney: boolean
  version: string
  log: { error(message: string, data?: Record<string, unknown>): void }
}

/** A request as received by the server. */
export type Visitor = {
  /** What routes see: `@scope%2fname` is `@scope/name`. */
  path: string
  requestId: string
  /** Calls the API in this process as the visitor: by their address, within their request's trace. */
  callApi(request: Request): Promise<Response>
  /** Tells which pattern answers, for log and metrics. */
  routed(pattern: string): void
}

export type Site = { fetch(request: Request, visitor: Visitor): Promise<Response> }
