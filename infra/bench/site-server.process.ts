import { serve } from '@agentgym/registry'

/** The site as it was built, before a registry, as `agentgym serve` has them; says its address to whoever started it. */
const built = new URL('../../web/dist/server/index.js', import.meta.url)
const { openSite } = (await import(built.href)) as typeof import('../../web/src/index.ts')
const { url } = await serve({ port: 0, data: process.argv[2], site: openSite })
process.send?.({ url })
