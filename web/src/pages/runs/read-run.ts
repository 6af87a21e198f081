import { watchRun } from '@agentgym/client'
import type { ProgressEvent, Run, RunEvent } from '@agentgym/contract'
import type { FormFailure, FormValues } from '../../app/form.ts'
import type { Visit } from '../../app/visit.ts'

/** Maximum number of pages of 5,000 iterations that are read of a very long run. */
const mostPages = 10
/** Maximum number of events in the log. */
const logReach = 3_000
const logTimeoutMs = 3_000

/** Data of a run's page. */
export type ReadRun = {
  run: Run
  points: ProgressEvent[]
  /** Without progress; oldest first. */
  log: RunEvent[]
  checkpoints: Checkpoint[]
  /** The target mean return; null if the scenario has none or no longer exists. */
  target: number | null
}
export type Checkpoint = { iteration: number; steps: number; size: number; sha256: string; created_at: string }

/** Throws `run_not_found`. */
export async function readRun(visit: Visit, id: string): Promise<ReadRun> {
  const path = { params: { path: { id } } }
  const run = await findRun(visit, id)
  const [points, log, checkpoints, target] = await Promise.all([
    readPoints(visit, id),
    readLog(visit, run),
    visit.api.GET('/v1/runs/{id}/checkpoints', path),
    successTarget(visit, run),
  ])
  return { run, points, log, checkpoints: checkpoints.data.checkpoints, target }
}

/** Throws `run_not_found`. */
export async function findRun({ api }: Visit, id: string): Promise<Run> {
  const { data } = await api.GET('/v1/runs/{id}', { params: { path: { id } } })
  return data
}

/** The learning curve, one point per iteration. */
export async function readPoints({ api }: Visit, id: string): Promise<ProgressEvent[]> {
  const points: ProgressEvent[] = []
  let after: number | null = 0
  for (let page = 0; page < mostPages && after !== null; page++) {
    const query: { after_iteration: number; limit: number } = { after_iteration: after, limit: 5_000 }
    const { data } = await api.GET('/v1/runs/{id}/metrics', { params: { path: { id }, query } })
    points.push(...data.points)
    after = data.next
  }
  return points
}

/** Events so far. The stream of a running run is closed after these. */
async function readLog({ api }: Visit, run: Run): Promise<RunEvent[]> {
  if (run.last_event === 0) return []
  const log: RunEvent[] = []
  const signal = AbortSignal.timeout(logTimeoutMs)
  try {
    for await (const event of watchRun(api, run.id, { after: Math.max(0, run.last_event - logReach), signal })) {
      if (event.type !== 'progress') log.push(event)
      if (event.seq >= run.last_event) break
    }
  } catch (error) {
    // An incomplete log is better than no page.
    if (!signal.aborted) throw error
  }
  return log
}

async function successTarget({ api }: Visit, { scenario }: Run): Promise<number | null> {
  const [scope, name] = scenario.name.split('/')
  try {
    const path = { scope, name, version: scenario.version }
    const { data } = await api.GET('/v1/packages/{scope}/{name}/versions/{version}', { params: { path } })
    const { agentgym } = data.manifest as { agentgym?: { success?: { return_mean?: unknown } } }
    const target = agentgym?.success?.return_mean
    return typeof target === 'number' ? target : null
  } catch {
    return null
  }
}

/** A metric of the learning curve by environment steps, for a chart. */
export function seriesOf(points: ProgressEvent[], value: (point: ProgressEvent) => number | null) {
  return points.map((point) => ({ x: point.steps, y: value(point) }))
}

/** The refused form of a run's page, with its errors and entered values. */
export type RefusedForm = { form: 'act' | 'publish' | 'evaluate'; failure: FormFailure; values: FormValues }

export function isRunId(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text)
}
