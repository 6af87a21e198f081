import type { Hono } from 'hono'
import type { EnvMetrics } from './env-metrics.ts'
import type { ServedEnvironment } from './served-environment.ts'
import type { Sessions } from './sessions.ts'

/** What a protocol gets: its routes, one environment, and what all protocols share. */
export type ProtocolContext = {
  /** Routes below the environment's path, such as `/envs/cart-pole`. */
  app: Hono
  environment: ServedEnvironment
  sessions: Sessions
  metrics: EnvMetrics
}

/** Adds the routes of one protocol to an environment. */
export type MountProtocol = (context: ProtocolContext) => void
