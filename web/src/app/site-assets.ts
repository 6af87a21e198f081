import { createHash } from 'node:crypto'
import { globSync, readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'

/** A static file in its available encodings. */
type Asset = {
  type: string
  /** Beside those of every asset. */
  headers?: Record<string, string>
  bytes: Uint8Array<ArrayBuffer>
  encoded: Partial<Record<'br' | 'gzip', Uint8Array<ArrayBuffer>>>
}

/**
 * Stylesheet, islands and fonts of the pages, by URLs that contain a hash, and the icons that browsers look for at fixed
 * URLs (`web/public`).
 */
export type SiteAssets = {
  stylesheet: string
  /** Fonts that nearly every page uses. */
  preload: string[]
  icon: string
  /** Address of an island's script. */
  island(name: string): string | undefined
  /** Addresses of what a play needs: see `PlayAssets`. */
  play: PlayAssets
  /** By path. */
  files: ReadonlyMap<string, Asset>
}

/** What a page needs to run code of strangers. */
export type PlayAssets = {
  /** The document of the frame that this code runs in. */
  frame: string
  /** Scripts of the frame's workers, which the page passes into it: the scenario's, and the agent's. */
  guest: string
  policy: string
}

/** The used part of Vite's manifest. */
type Manifest = Record<string, { file: string; css?: string[]; assets?: string[]; isEntry?: boolean }>

const types: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.js': 'text/javascript; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.wasm': 'application/wasm',
  '.webmanifest': 'application/manifest+json',
  '.woff2': 'font/woff2',
}

/** The client build in `folder` (web/dist/client), loaded into memory, so that no request reads files. */
export function readSiteAssets(folder: string): SiteAssets {
  const manifest: Manifest = {}
  for (const name of globSync('manifest*.json', { cwd: folder }))
    Object.assign(manifest, JSON.parse(readFileSync(join(folder, name), 'utf8')))
  const files = new Map<string, Asset>()
  for (const path of [...readdirSync(folder), ...readdirSync(join(folder, 'assets')).map((name) => `assets/${name}`)]) {
    const type = types[extname(path)]
    if (type === undefined) continue
    const read = (suffix: string) => readIfThere(join(folder, path + suffix))
    const bytes = read('')
    if (bytes !== undefined) files.set(`/${path}`, { type, bytes, encoded: { br: read('.br'), gzip: read('.gz') } })
  }
  const entryOf = (source: string) => {
    const entry = manifest[source]
    if (entry === undefined) throw new Error(`the site's build has no ${source}`)
    return entry
  }
  const addressOf = (source: string) => `/${entryOf(source).file}`
  const frame = frameDocument(readFileSync(join(folder, entryOf('src/islands/frame/frame.ts').file), 'utf8'))
  files.set(frame.address, frame.asset)
  return {
    stylesheet: addressOf('src/styles/site.css'),
    preload: [...files.keys()].filter((path) => /\/(inter|jetbrains-mono)-latin-wght-normal-[^/]+\.woff2$/.test(path)),
    icon: addressOf('src/styles/icon.svg'),
    island: (name) => {
      const entry = manifest[`src/islands/${name}.ts`]
      return entry && `/${entry.file}`
    },
    play: {
      frame: frame.address,
      guest: addressOf('src/islands/frame/guest.ts'),
      policy: addressOf('src/islands/frame/policy.ts'),
    },
    files,
  }
}

/**
 * The document in which code of strangers runs. Its policy gives it an origin of its own, even opened by itself; it may run its
 * one script, a worker made of text, and nothing else: no network, no storage, no frame. `eval` is how a worker compiles a bundle.
 */
function frameDocument(script: string): { address: string; asset: Asset } {
  const source = script.trim()
  const hash = createHash('sha256').update(source).digest('base64')
  const policy = [
    "default-src 'none'",
    `script-src 'sha256-${hash}' 'unsafe-eval'`,
    'worker-src blob:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'self'",
    'sandbox allow-scripts',
  ].join('; ')
  const html = `<!doctype html><meta charset="utf-8"><title>Sandbox</title><script>${source}</script>`
  const stamp = createHash('sha256').update(html).update(policy).digest('hex').slice(0, 8)
  const headers = { 'content-security-policy': policy, 'x-frame-options': 'SAMEORIGIN' }
  const bytes = new TextEncoder().encode(html)
  return { address: `/assets/frame-${stamp}.html`, asset: { type: types['.html'], headers, bytes, encoded: {} } }
}

function readIfThere(path: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return new Uint8Array(readFileSync(path))
  } catch {
    return undefined
  }
}

/** Assets without a client build, for tests of pages: the URLs exist, the files do not. */
export function unbuiltAssets(): SiteAssets {
  const stamp = createHash('sha256').update('unbuilt').digest('hex').slice(0, 8)
  return {
    stylesheet: `/assets/site-${stamp}.css`,
    preload: [],
    icon: `/assets/icon-${stamp}.svg`,
    island: (name) => `/assets/${name}-${stamp}.js`,
    play: {
      frame: `/assets/frame-${stamp}.html`,
      guest: `/assets/guest-${stamp}.js`,
      policy: `/assets/policy-${stamp}.js`,
    },
    files: new Map(),
  }
}

/** The response to a request for an asset; null if it does not exist. Cached permanently if its URL contains a hash. */
export function answerAsset({ files }: SiteAssets, path: string, request: Request): Response | null {
  const asset = files.get(path)
  if (asset === undefined) return null
  const accepted = request.headers.get('accept-encoding') ?? ''
  const encoding = (['br', 'gzip'] as const).find(
    (name) => new RegExp(`\\b${name}\\b`).test(accepted) && asset.encoded[name],
  )
  return new Response(encoding === undefined ? asset.bytes : asset.encoded[encoding], {
    headers: {
      'content-type': asset.type,
      'cache-control': path.startsWith('/assets/') ? 'public, max-age=31536000, immutable' : 'public, max-age=86400',
      vary: 'accept-encoding',
      ...(encoding === undefined ? {} : { 'content-encoding': encoding }),
      ...asset.headers,
    },
  })
}
