import { z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import type { OpenedObject } from '../queue/leased-object.ts'
import { webStream } from '../storage/object-store.ts'
import type { Env } from './env.ts'

/** Response content of routes that use `sendLeased`. */
export const leasedFile = {
  'application/octet-stream': { schema: z.any().openapi({ type: 'string', format: 'binary' }) },
}

/** Sends a stored object to the worker whose lease covers it. Proxies must not cache it. */
export function sendLeased(c: Context<Env>, { body, size }: OpenedObject) {
  return c.body(webStream(body), 200, {
    'content-type': 'application/octet-stream',
    'content-length': String(size),
    'cache-control': 'no-store',
  })
}
