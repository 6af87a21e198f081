// The service in a process of its own, to be killed: `node server.process.ts FOLDER PORT`. Says its address once it serves.
import { serve } from '@agentgym/registry'

const [data, port] = process.argv.slice(2)
const { url } = await serve({ data, port: Number(port) })
process.send?.({ url })
