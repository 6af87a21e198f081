import { availableParallelism } from 'node:os'
import { serve } from '@agentgym/registry'
import { openBuiltSite } from '../../sdk/cli/src/processes/open-built-site.ts'
import { serveInProcesses } from '../../sdk/cli/src/processes/serve-in-processes.ts'

/**
 * The site as it was built, before a registry, as `agentgym serve` has them: on PostgreSQL by a process a core, as
 * `--processes` does. Says its address to whoever started it.
 */
const [, , data] = process.argv
const { url } = process.env.DATABASE_URL
  ? await serveInProcesses(availableParallelism(), { port: 0, data, environment: process.env })
  : await serve({ port: 0, data, site: await openBuiltSite() })
process.send?.({ url })
