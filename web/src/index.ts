import { basename, join } from 'node:path'
import { createSite } from './app/create-site.ts'
import { readSiteAssets } from './app/site-assets.ts'
import type { Site, SiteHost } from './app/site-host.ts'

/** Next to the built server, or relative to the sources. */
const client = join(import.meta.dirname, basename(import.meta.dirname) === 'src' ? '../dist/client' : '../client')

/** Opens the marketplace's site for a server with `host`. The client side is built by `web/build.ts`. */
export function openSite(host: SiteHost): Site {
  return createSite(host, { assets: readSiteAssets(client) })
}
