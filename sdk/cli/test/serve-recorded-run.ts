// A server that plays the recorded run, to look at `train --remote --watch` and `runs …`:
//   node sdk/cli/test/serve-recorded-run.ts [MS_PER_EVENT]    then, elsewhere: AGENTGYM_SERVER=http://… agentgym runs watch 4f0c
import { setTimeout as sleep } from 'node:timers/promises'
import { startRunServer, tellRecordedRun } from './run-server.ts'

const pace = Number(process.argv[2] ?? 100)
const server = await startRunServer()
console.log(server.url)
for (const ahead of [2, 1, 0]) {
  server.change({ ahead })
  await sleep(pace * 30)
}
await tellRecordedRun(server, { pause: () => sleep(pace).then(() => {}) })
