import type { Context } from 'hono'
import type { Env } from './env.ts'

const passedOn = ['x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'forwarded', 'via']

/**
 * Whether a request comes from this machine. That is the connection itself, asked for by a local name and passed on by
 * nobody: a proxy on this machine connects from it too, for all the world, and a page in a browser on it may be led here
 * under a name of its own.
 */
export function isLocalRequest(c: Context<Env>): boolean {
  if (passedOn.some((header) => c.req.header(header) !== undefined)) return false
  const address = c.env?.incoming?.socket.remoteAddress ?? ''
  const host = (c.req.header('host') ?? '').replace(/:\d+$/, '')
  return /^(::1|(::ffff:)?127(\.\d+){3})$/.test(address) && ['localhost', '127.0.0.1', '[::1]'].includes(host)
}
