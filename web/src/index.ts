import { basename, join } from 'node:path'
import { createSite } from './app/create-site.ts'
import { readSiteAssets } from './app/site-assets.ts'
import type { Site, SiteHost } from './app/site-host.ts'
import { readSiteDocs } from './docs/site-docs.ts'

export type { Preview } from './app/site-host.ts'

/** Of the built server, or relative to the sources. */
const dist = join(import.meta.dirname, basename(import.meta.dirname) === 'src' ? '../dist' : '..')

/** Opens the marketplace's site for a server with `host`. The client side is built by `web/build.ts`. */
export function openSite(host: SiteHost): Site {
  const docs = readSiteDocs(join(dist, 'docs.json'))
  return createSite(host, { assets: readSiteAssets(join(dist, 'client')), docs: () => docs })
}
