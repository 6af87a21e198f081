import type { Hono } from 'hono'
import type { Env } from './http/env.ts'
import type { ScheduledTask } from './scheduled-tasks/scheduled-tasks.ts'

/** A module's contribution to the service. */
export type Module = {
  /** Mounted at the root with their full paths. */
  routes: Hono<Env>[]
  tasks?: ScheduledTask[]
  /** Ends long-lived responses. Their clients reconnect to another process. */
  drain?(): void
  /** Resolves once the module's data is written and its resources are released. */
  close?(): Promise<void>
}
