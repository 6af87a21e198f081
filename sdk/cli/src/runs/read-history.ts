import { watchRun } from '@agentgym/client'
import type { Run, RunEvent } from '@agentgym/contract'
import type { Connection } from '../account/connection.ts'
import { clientOf, explained } from '../registry/registry-api.ts'

export type RunHistory = {
  /** What befell the run, in order; its iterations are the curve. */
  events: Exclude<RunEvent, { type: 'progress' }>[]
  /** Mean return of the last 100 episodes after each iteration; none before an episode has ended. */
  curve: { steps: number; return_mean: number }[]
}

/** Everything that a run has told so far. */
export async function readHistory(connection: Connection, run: Run): Promise<RunHistory> {
  const history: RunHistory = { events: [], curve: [] }
  await explained(connection, async () => {
    if (run.last_event === 0) return
    for await (const event of watchRun(clientOf(connection), run.id)) {
      if (event.type !== 'progress') history.events.push(event)
      else if (event.data.return_mean !== null) {
        history.curve.push({ steps: event.data.steps, return_mean: event.data.return_mean })
      }
      if (event.seq >= run.last_event) return
    }
  })
  return history
}
