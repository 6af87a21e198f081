import type { Hono } from 'hono'
import type { Database } from '../../core/database/database.ts'
import type { Env } from '../../core/http/env.ts'
import type { ServerConfig, Services } from '../../core/services.ts'
import { type TestServices, testServices } from '../../testing/test-services.ts'
import { type AppOptions, createApp } from '../app.ts'
import { listenHttp } from '../http-listener.ts'

export type ServedApp = { url: string; services: TestServices; close(): Promise<void> }

/** The application with these rooms, answering real requests. */
export async function serveApp(
  database: Database,
  rooms: Hono<Env>[] | ((services: Services) => Hono<Env>[]),
  config: Partial<ServerConfig> = {},
  more: Pick<AppOptions, 'tracer' | 'site'> = {},
): Promise<ServedApp> {
  const listener = await listenHttp('127.0.0.1', 0)
  const url = `http://localhost:${listener.port}`
  const services = await testServices(database, { publicUrl: url, ...config })
  const opened = typeof rooms === 'function' ? rooms(services) : rooms
  listener.answerWith(createApp(services, { rooms: opened, ...more }).fetch)
  return {
    url,
    services,
    close: async () => {
      await listener.drain(0)
      await services.remove()
    },
  }
}
