import { serve } from '@agentgym/registry'

/** The registry as `agentgym serve` starts it, in a process of its own; says its address to whoever started it. */
const { url } = await serve({ port: 0, data: process.argv[2] })
process.send?.({ url })
