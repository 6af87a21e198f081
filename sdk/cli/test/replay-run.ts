// Plays a recorded run through a view, to look at it: node sdk/cli/test/replay-run.ts [live|plain|watch|fault|serve] [MS_PER_EVENT]
// `fault` is the dashboard with a fault in it; `serve` is a server that has the run: AGENTGYM_SERVER=… agentgym runs watch 4f0c
import { setTimeout as sleep } from 'node:timers/promises'
import { describeTerminal } from '../src/terminal/terminal.ts'
import { dashboardView } from '../src/training-view/dashboard.ts'
import { plainView } from '../src/training-view/line-views.ts'
import { liveView } from '../src/training-view/live-view.ts'
import { recordedPlan, recordedRun } from './recorded-run.ts'
import { playRecordedRun, startRunServer } from './run-server.ts'

const [kind = 'live', pace = '20'] = process.argv.slice(2)
if (kind === 'serve') await serveRun(Number(pace))

const terminal = describeTerminal(process.stdout, process.env, { color: true })
// The chart alone asks for this.
if (kind === 'fault') {
  Object.defineProperty(terminal, 'unicode', {
    get() {
      throw new Error('a fault while drawing')
    },
  })
}
const shared = { terminal, verbose: false, stream: process.stdout }
let interrupted = false
const onInterrupt = () => {
  interrupted = true
}
process.on('SIGINT', onInterrupt)

const view =
  kind === 'watch' || kind === 'fault'
    ? dashboardView({ ...shared, input: process.stdin, onInterrupt })
    : kind === 'plain'
      ? plainView({ terminal, verbose: false, write: console.log, now: () => performance.now() })
      : liveView(shared)

view.start(recordedPlan)
const { events, result } = recordedRun()
for (const event of events) {
  if (interrupted) break
  view.event(event)
  await sleep(Number(pace))
}
if (interrupted) view.stopping()
await sleep(interrupted ? 1000 : 0)
await view.close()
if (!interrupted) view.finish(result, { out: recordedPlan.out })

/** Queued for a while, then trained; serves until it is stopped. */
async function serveRun(msPerEvent: number): Promise<never> {
  const server = await startRunServer()
  console.log(server.url)
  for (const ahead of [2, 1, 0]) {
    server.change({ ahead })
    await sleep(msPerEvent * 30)
  }
  await playRecordedRun(server, { pause: () => sleep(msPerEvent).then(() => {}) })
  return new Promise(() => {})
}
