import { serve } from '@agentgym/registry'
import { openBuiltSite } from '../../sdk/cli/src/processes/open-built-site.ts'

/** The built site with a registry, as in `agentgym serve`. Reports its URL to its parent. */
const { url } = await serve({ port: 0, data: process.argv[2], site: await openBuiltSite() })
process.send?.({ url })
