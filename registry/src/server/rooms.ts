import type { Hono } from 'hono'
import type { Env } from './env.ts'
import type { Services } from './services.ts'
import type { UpkeepTask } from './upkeep.ts'

/** What the rooms of the service bring: routes, upkeep, and what they hold open. */
export type Rooms = { routes: Hono<Env>[]; upkeep: UpkeepTask[]; close(): Promise<void> }

export async function openRooms(_services: Services): Promise<Rooms> {
  return { routes: [], upkeep: [], close: async () => {} }
}
