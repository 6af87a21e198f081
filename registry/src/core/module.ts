import type { Hono } from 'hono'
import type { Env } from './http/env.ts'
import type { ScheduledTask } from './scheduled-tasks/scheduled-tasks.ts'

/** What a module adds to the service. */
export type Module = {
  /** Mounted at the root: each names its whole path. */
  routes: Hono<Env>[]
  tasks?: ScheduledTask[]
  /** Ends responses that would last for hours; their clients ask again, elsewhere. */
  drain?(): void
  /** Resolves once the module's data is written and its resources are released. */
  close?(): Promise<void>
}
