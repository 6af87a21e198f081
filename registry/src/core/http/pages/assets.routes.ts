import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { Hono } from 'hono'
import type { Env } from '../env.ts'
import { declare } from '../route.ts'
import { stylesheet } from './stylesheet.ts'

/** Holds the stylesheet's hash: a changed one has another address, so browsers may keep each for good. */
export const stylesheetAddress = `/docs/assets/server-${createHash('sha256').update(stylesheet).digest('hex').slice(0, 12)}.css`

const FOR_GOOD = 'public, max-age=31536000, immutable'

const fonts: Record<string, string> = {
  '/docs/assets/inter.woff2': '@fontsource-variable/inter/files/inter-latin-wght-normal.woff2',
  '/docs/assets/jetbrains-mono.woff2':
    '@fontsource-variable/jetbrains-mono/files/jetbrains-mono-latin-wght-normal.woff2',
}

/** Stylesheet and typefaces of the server's pages; the files are named here, never by a request. */
export function assetRoutes(): Hono<Env> {
  const app = new Hono<Env>()
  app.get(stylesheetAddress, declare({ access: 'anyone' }), (c) =>
    c.body(stylesheet, 200, { 'content-type': 'text/css; charset=utf-8', 'cache-control': FOR_GOOD }),
  )
  for (const [address, file] of Object.entries(fonts)) {
    app.get(address, declare({ access: 'anyone' }), async (c) => {
      const bytes = await readFile(fileURLToPath(import.meta.resolve(file)))
      return c.body(bytes, 200, { 'content-type': 'font/woff2', 'cache-control': FOR_GOOD })
    })
  }
  return app
}
