import type { KeyObject } from 'node:crypto'
import type { Database } from './database/database.ts'
import type { ReadReplica } from './database/read-replica.ts'
import type { Dependencies } from './dependencies/dependencies.ts'
import type { ProcessGroup, ProcessMetrics } from './observability/process-metrics.ts'
import type { JobQueue } from './queue/job-queue.ts'
import type { OpenJobs, QueueConfig } from './queue/open-jobs.ts'
import type { ObjectStore } from './storage/object-store.ts'

/** Services shared by all routes and jobs. */
export type Services = {
  database: Database
  /** Set if the installation has one, for reads of the catalog. */
  replica?: ReadReplica
  objects: ObjectStore
  /** Whether database and storage can be used. */
  dependencies: Dependencies
  queue: JobQueue
  openJobs: OpenJobs
  mail: Mail
  config: ServerConfig
  log: Log
  metrics: ProcessMetrics
  /** Set if this process shares its port with others. */
  group?: ProcessGroup
}

export type ServerConfig = {
  /** Public URL without a trailing slash: `http://localhost:4477`. */
  publicUrl: string
  /** Folder of the embedded database, objects and mail; null if all of them are elsewhere. */
  data: string | null
  /** Behind TLS: cookies are Secure and named `__Host-`. */
  secure: boolean
  /** Number of trusted proxies that set X-Forwarded-For. */
  trustedProxies: number
  /** Secret of this installation (32 bytes, made at first start, shared by replicas through the database or AGENTGYM_SECRET). */
  secret: Uint8Array
  /** The operator's own Ed25519 key (AGENTGYM_SIGNING_KEY); without it the installation makes one. */
  signingKey?: KeyObject
  /** Token of the worker next to this process; random, valid for the lifetime of the process. */
  embeddedWorkerToken?: string
  /** Limits of an uploaded package. */
  limits: { tarballBytes: number; unpackedBytes: number; files: number; ratio: number }
  /** Reachable from this machine only: it listens on loopback, under a loopback address, behind no proxy. */
  local: boolean
  /** The operator's own set-up secret (AGENTGYM_SETUP_SECRET); without it one is derived from `secret`. */
  setupSecret?: string
  training: {
    /** ISO 4217, of budgets, prices and charges. */
    currency: string
    /** Maximum number of queued and running runs per user. */
    openRuns: number
    /** Maximum number of runs that an account may start per minute. */
    startsPerMinute: number
    /** Maximum size of a checkpoint in bytes. */
    checkpointBytes: number
    /** Free training per account and month, in minor units; null if training is metered but never charged. */
    freeMinorPerMonth: number | null
    /** Retention after the end of a run, in days, of its last checkpoint, trajectories and curve. */
    retainCheckpointDays: number
    retainTrajectoryDays: number
    retainMetricDays: number
  }
  queue: QueueConfig
  /** Whether accounts must confirm their email address before they use workers or publish. */
  confirmedEmail: boolean
  market: MarketConfig
  verification: VerificationConfig
  /** Bearer token for `/metrics` (AGENTGYM_METRICS_TOKEN); without it only this machine reads them. */
  metricsToken?: string
  /** Origins that webhooks may have although they are not public https (AGENTGYM_WEBHOOK_ORIGINS). */
  webhookOrigins: string[]
  /** Allowed hosts of OpenID providers for organizations (AGENTGYM_SIGN_ON_ISSUERS); `*.` matches subdomains. */
  signOnIssuers: string[]
  oauth: Partial<Record<'github' | 'google', { clientId: string; clientSecret: string }>>
}

/** How agents are verified. */
export type VerificationConfig = {
  /** Number of workers that must agree before a statement is signed; `auto`: two if another is connected, else one. */
  workers: 'auto' | 1 | 2
  /** Length of a season, in which all agents have the same held-out episodes. */
  seasonHours: number
}

/** The market's fees, hold period and payment provider. */
export type MarketConfig = {
  /** The platform's share of every sale, in basis points. */
  feeBasisPoints: number
  /** Maximum royalty of a scenario's author on sales of agents trained on it, in basis points. */
  royaltyCapBasisPoints: number
  /** Notice period of price increases, in days. */
  priceNoticeDays: number
  /** Hold period of earnings before they can be paid out, in days. */
  payoutHoldDays: number
  /** Null: the provider `test`, with test money. */
  stripe: { secretKey: string; webhookSecret: string; apiAddress: string | null } | null
  /** Allows real money on PGlite, which does not wait for the disk. */
  moneyOnPglite: boolean
}

export type MailMessage = {
  to: string
  subject: string
  text: string
  /** Identifies the message, so that a second copy after a crash is recognized as one: `ID` of `<ID@host>`. */
  id?: string
  /** More headers, such as List-Unsubscribe. */
  headers?: Record<string, string>
}

export type Mail = { send(message: MailMessage): Promise<void> }

export type Log = {
  info(message: string, data?: Record<string, unknown>): void
  warn(message: string, data?: Record<string, unknown>): void
  error(message: string, data?: Record<string, unknown>): void
}
