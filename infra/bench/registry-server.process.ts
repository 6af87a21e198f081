import { serve } from '@agentgym/registry'

/** The registry as started by `agentgym serve`, in a separate process. Reports its URL to its parent. */
const { url } = await serve({ port: 0, data: process.argv[2] })
process.send?.({ url })
