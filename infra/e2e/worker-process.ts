// A worker in a process of its own, to be killed: `node worker-process.ts SERVER TOKEN`. Prints its events, one a line.
import { runCheckWorker } from '@agentgym/runtime'

const [server, token] = process.argv.slice(2)
await runCheckWorker({
  server,
  token,
  signal: new AbortController().signal,
  onEvent: (event) => console.log(JSON.stringify(event)),
})
