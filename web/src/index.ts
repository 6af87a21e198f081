import { basename, join } from 'node:path'
import { createSite } from './app/create-site.ts'
import { readSiteAssets } from './app/site-assets.ts'
import type { Site, SiteHost } from './app/site-host.ts'

/** Next to the built server, or where the build lies seen from the sources. */
const client = join(import.meta.dirname, basename(import.meta.dirname) === 'src' ? '../dist/client' : '../client')

/** The marketplace's site for a server that lends it `host`. Its client side is what `web/build.ts` has built. */
export function openSite(host: SiteHost): Site {
  return createSite(host, { assets: readSiteAssets(client) })
}
