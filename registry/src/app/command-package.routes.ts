import { Hono } from 'hono'
import { isKnownTag } from '../core/http/entity-tag.ts'
import type { Env } from '../core/http/env.ts'
import { declare } from '../core/http/route.ts'

/** The command `agentgym` as a package for npm. */
export type CommandPackage = {
  version: string
  /** `sha512-…`, as in npm's lock files. */
  integrity: string
  bytes: Uint8Array<ArrayBuffer>
}

/** `npm install -g` takes it from here. The address is the same for every version, so that it can be printed in documents. */
export const commandPath = '/cli/agentgym.tgz'

/** Serves the package, if this installation has built it. */
export function commandPackageRoutes(command: CommandPackage | undefined): Hono<Env> {
  const app = new Hono<Env>()
  if (command === undefined) return app
  const { version, integrity, bytes } = command
  const tag = `"${integrity}"`
  const shared = { etag: tag, 'cache-control': 'public, max-age=300', 'agentgym-version': version }
  app.get(commandPath, declare({ access: 'anyone' }), (c) => {
    if (isKnownTag(c.req.header('if-none-match'), tag)) return c.body(null, 304, shared)
    return c.body(bytes, 200, {
      ...shared,
      'content-type': 'application/gzip',
      'content-length': String(bytes.length),
    })
  })
  return app
}
