import type { KeyObject } from 'node:crypto'
import type { Database } from './database/database.ts'
import type { Dependencies } from './dependencies/dependencies.ts'
import type { ProcessGroup, ProcessMetrics } from './observability/process-metrics.ts'
import type { JobQueue } from './queue/job-queue.ts'
import type { OpenJobs, QueueConfig } from './queue/open-jobs.ts'
import type { ObjectStore } from './storage/object-store.ts'

/** What every route and job of the service shares. */
export type Services = {
  database: Database
  objects: ObjectStore
  /** Whether database and storage can be used. */
  dependencies: Dependencies
  queue: JobQueue
  openJobs: OpenJobs
  mail: Mail
  config: ServerConfig
  log: Log
  metrics: ProcessMetrics
  /** Where this process is one of several that serve one port. */
  group?: ProcessGroup
}

export type ServerConfig = {
  /** As users reach it, without a trailing slash: `http://localhost:4477`. */
  publicUrl: string
  /** Folder of the embedded database, objects and mail; null if all of them are elsewhere. */
  data: string | null
  /** Behind TLS: cookies are Secure and named `__Host-`. */
  secure: boolean
  /** Proxies in front whose X-Forwarded-For is believed. */
  trustedProxies: number
  /** Secret of this installation (32 bytes, made at first start, shared by replicas through the database or AGENTGYM_SECRET). */
  secret: Uint8Array
  /** The operator's own Ed25519 key (AGENTGYM_SIGNING_KEY); without it the installation makes one. */
  signingKey?: KeyObject
  /** Token of the worker that runs beside this process; random, and good for as long as the process lives. */
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
    /** Runs that a user may have queued and running at once. */
    openRuns: number
    /** Runs that an account may start in a minute. */
    startsPerMinute: number
    /** Most bytes of a checkpoint. */
    checkpointBytes: number
    /** What an account trains free of charge in a month, in minor units; null: training is metered, and never charged. */
    freeMinorPerMonth: number | null
    /** Days after its end for which a run keeps its last checkpoint, its trajectories and its curve. */
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
  /** Hosts of OpenID providers that organizations may sign on through (AGENTGYM_SIGN_ON_ISSUERS); `*.` for any below. */
  signOnIssuers: string[]
  oauth: Partial<Record<'github' | 'google', { clientId: string; clientSecret: string }>>
}

/** How agents are verified. */
export type VerificationConfig = {
  /** Workers that must agree before a statement is signed; `auto`: two once another is there, else one. */
  workers: 'auto' | 1 | 2
  /** How long a season lasts: its held-out episodes are the same for all agents. */
  seasonHours: number
}

/** The market's fee, hold and payment provider. */
export type MarketConfig = {
  /** The platform's part of every sale, in hundredths of a per cent. */
  feeBasisPoints: number
  /** Most that the author of a scenario may ask of a sale of an agent trained on it, in hundredths of a per cent. */
  royaltyCapBasisPoints: number
  /** Days between the announcement of a raise and its taking effect. */
  priceNoticeDays: number
  /** Days for which earnings are held before they can be paid out. */
  payoutHoldDays: number
  /** Null: the provider `test`, whose money is play money. */
  stripe: { secretKey: string; webhookSecret: string; apiAddress: string | null } | null
  /** Allows real money on PGlite, which does not wait for the disk. */
  moneyOnPglite: boolean
}

export type Mail = { send(message: { to: string; subject: string; text: string }): Promise<void> }

export type Log = {
  info(message: string, data?: Record<string, unknown>): void
  warn(message: string, data?: Record<string, unknown>): void
  error(message: string, data?: Record<string, unknown>): void
}
