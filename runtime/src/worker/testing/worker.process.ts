// A worker in a process of its own, to be stopped, woken and killed: `node worker.process.ts SERVER`. Prints its events, one
// a line; SIGTERM ends it in order.
import { runWorker } from '../run-worker.ts'

const stop = new AbortController()
process.once('SIGTERM', () => stop.abort())
await runWorker({
  server: process.argv[2],
  token: 'agt_test',
  kinds: ['train'],
  slots: 1,
  stop: stop.signal,
  pollMs: 20,
  heartbeatMs: 100,
  onEvent: (event) => console.log(JSON.stringify(event)),
})
