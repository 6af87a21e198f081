import { serve } from '@agentgym/registry'
import { openBuiltSite } from '../../sdk/cli/src/processes/open-built-site.ts'

/** The site as it was built, before a registry, as `agentgym serve` has them; says its address to whoever started it. */
const { url } = await serve({ port: 0, data: process.argv[2], site: await openBuiltSite() })
process.send?.({ url })
