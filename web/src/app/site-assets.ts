import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'

/** A static file in its available encodings. */
type Asset = {
  type: string
  bytes: Uint8Array<ArrayBuffer>
  encoded: Partial<Record<'br' | 'gzip', Uint8Array<ArrayBuffer>>>
}

/** Stylesheet, islands, fonts and icons of the pages, by URLs that contain a hash. */
export type SiteAssets = {
  stylesheet: string
  /** Fonts that nearly every page uses. */
  preload: string[]
  icon: string
  /** Address of an island's script. */
  island(name: string): string | undefined
  /** By path. */
  files: ReadonlyMap<string, Asset>
}

/** The used part of Vite's manifest. */
type Manifest = Record<string, { file: string; css?: string[]; assets?: string[]; isEntry?: boolean }>

const types: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
}

/** The client build in `folder` (web/dist/client), loaded into memory, so that no request reads files. */
export function readSiteAssets(folder: string): SiteAssets {
  const manifest = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')) as Manifest
  const files = new Map<string, Asset>()
  for (const name of readdirSync(join(folder, 'assets'))) {
    const type = types[extname(name)]
    if (type === undefined) continue
    const read = (suffix: string) => readIfThere(join(folder, 'assets', name + suffix))
    const bytes = read('')
    if (bytes !== undefined)
      files.set(`/assets/${name}`, { type, bytes, encoded: { br: read('.br'), gzip: read('.gz') } })
  }
  const addressOf = (source: string) => {
    const entry = manifest[source]
    if (entry === undefined) throw new Error(`the site's build has no ${source}`)
    return `/${entry.file}`
  }
  return {
    stylesheet: addressOf('src/styles/site.css'),
    preload: [...files.keys()].filter((path) => /\/(inter|jetbrains-mono)-latin-wght-normal-[^/]+\.woff2$/.test(path)),
    icon: addressOf('src/styles/icon.svg'),
    island: (name) => {
      const entry = manifest[`src/islands/${name}.ts`]
      return entry && `/${entry.file}`
    },
    files,
  }
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
    files: new Map(),
  }
}

/**
 * The response to a request for an asset; null if it does not exist. Cached permanently, because its URL contains the
 * hash.
 */
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
      'cache-control': 'public, max-age=31536000, immutable',
      vary: 'accept-encoding',
      ...(encoding === undefined ? {} : { 'content-encoding': encoding }),
    },
  })
}
