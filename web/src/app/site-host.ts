/**
 * The server's interface for the site. The server declares the same types: neither imports the other, the command
 * connects them.
 */
export type SiteHost = {
  /** Public URL, without a trailing slash. */
  publicUrl: string
  /** Served over TLS. */
  secure: boolean
  /** 32-byte key that signs the site's forms; the same in all replicas. */
  formKey: Uint8Array
  /** Login providers besides a password: `github`, `google`. */
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
  /** The path for routes: `@scope%2fname` is `@scope/name`. */
  path: string
  requestId: string
  /** Calls the API in this process as the visitor: with their IP address and trace. */
  callApi(request: Request): Promise<Response>
  /** Reports the matched pattern, for logs and metrics. */
  routed(pattern: string): void
}

export type Site = { fetch(request: Request, visitor: Visitor): Promise<Response> }
