// A worker in a process of its own, to be killed or told to stop: `node worker-process.ts SERVER TOKEN`. Prints its events,
// one a line.
import { runWorker } from '@agentgym/runtime'

const [server, token] = process.argv.slice(2)
const stop = new AbortController()
process.once('SIGTERM', () => stop.abort())
await runWorker({
  server,
  token,
  stop: stop.signal,
  pollMs: 200,
  onEvent: (event) => console.log(JSON.stringify(event)),
})
