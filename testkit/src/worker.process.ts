// A worker in a process of its own, to be killed or told to stop: `node worker.process.ts SERVER TOKEN [HOST:PORT]`, where others
// reach it for runs of several workers. Prints its events, one a line.
import { runWorker } from '@agentgym/runtime'

const [server, token, gangAddress] = process.argv.slice(2)
const stop = new AbortController()
process.once('SIGTERM', () => stop.abort())
await runWorker({
  server,
  token,
  gangAddress,
  // What is lost shows soon.
  ...(gangAddress === undefined ? {} : { heartbeatMs: 1_000, slots: 1 }),
  stop: stop.signal,
  pollMs: 200,
  onEvent: (event) => console.log(JSON.stringify(event)),
})
