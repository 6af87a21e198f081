import type { SvgElement } from '@agentgym/pictures'

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
  /** The operator's own policies as HTML; null: the site shows its template. */
  policies: Record<'terms' | 'privacy' | 'acceptable-use', string | null>
  /** Address of the command as a package for npm, which the server hands out; null or absent: none. */
  commandUrl?: string | null
  log: { error(message: string, data?: Record<string, unknown>): void }
  /**
   * Draws the PNG that other sites show for a link, 1200 by 630 pixels; null while too many are being drawn. Absent: pages
   * have no such picture.
   */
  drawPreview?: (preview: Preview) => Promise<Uint8Array | null>
}

/** The picture of a link to a page. */
export type Preview = {
  /** The same for the same picture: it may be kept by it. */
  key: string
  title: string
  /** Below the title. */
  lines: string[]
  /** `FRAME_WIDTH` by `FRAME_HEIGHT` units. */
  picture: SvgElement
}

/** A page of the API reference: trusted HTML, without header and footer. */
export type ReferencePage = { title: string; body: string }

/** A request as received by the server. */
export type Visitor = {
  /** The path for routes: `@scope%2fname` is `@scope/name`. */
  path: string
  requestId: string
  /** The page of the API reference at a path such as `/docs/api/packages`; null if there is none. */
  reference(path: string): Promise<ReferencePage | null>
  /** Calls the API in this process as the visitor: with their IP address and trace. */
  callApi(request: Request): Promise<Response>
  /** Reports the matched pattern, for logs and metrics. */
  routed(pattern: string): void
}

export type Site = { fetch(request: Request, visitor: Visitor): Promise<Response> }
