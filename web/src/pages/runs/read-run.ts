import { watchRun } from '@agentgym/client'
import {
  AgentGymError,
  type PackagePage,
  type ProgressEvent,
  type Run,
  type RunEvent,
  type RunSharing,
  type SharedRun,
  type SuccessCriteria,
  successCriteriaSchema,
  type VersionDetails,
} from '@agentgym/contract'
import type { FormFailure, FormValues } from '../../app/form.ts'
import type { Visit } from '../../app/visit.ts'
import { accountsOf } from '../../session/accounts.ts'

/** Maximum number of pages of 5,000 iterations that are read of a very long run. */
const mostPages = 10
/** Maximum number of events in the log. */
const logReach = 3_000
const logTimeoutMs = 3_000
/** Maximum number of other seeds in the band of a run's curve. */
const mostSiblings = 4

/** Data of a run's page. */
export type ReadRun = {
  run: Run
  points: ProgressEvent[]
  /** Without progress; oldest first. */
  log: RunEvent[]
  checkpoints: Checkpoint[]
  /** Held-out, during training. */
  evaluations: SharedRun['evaluations']
  /** The scenario's targets by metric. */
  targets: SuccessCriteria
  /** Curves of other seeds. */
  siblings: ProgressEvent[][]
  published: PublishedAgent | null
  /** Null for visitors who may not change it. */
  sharing: RunSharing | null
}
/** What became of the agent that a run has published. */
export type PublishedAgent = Pick<VersionDetails, 'state' | 'verification'> &
  Pick<PackagePage, 'price_minor' | 'price_kind' | 'currency'>
export type Checkpoint = { iteration: number; steps: number; size: number; sha256: string; created_at: string }

/** Throws `run_not_found`. */
export async function readRun(visit: Visit, id: string): Promise<ReadRun> {
  const path = { params: { path: { id } } }
  const run = await findRun(visit, id)
  const [points, log, checkpoints, targets, siblings, published, sharing] = await Promise.all([
    readPoints(visit, id),
    readLog(visit, run),
    visit.api.GET('/v1/runs/{id}/checkpoints', path),
    successTargets(visit, run),
    readSiblings(visit, run),
    readPublished(visit, run),
    readSharing(visit, run),
  ])
  const evaluations = log.flatMap((event) => (event.type === 'evaluation' ? [event.data] : []))
  const { checkpoints: kept } = checkpoints.data
  return { run, points, log, evaluations, checkpoints: kept, targets, siblings, published, sharing }
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

/** Empty if the scenario has no targets or no longer exists. */
export async function successTargets({ api }: Visit, { scenario }: Pick<Run, 'scenario'>): Promise<SuccessCriteria> {
  const [scope, name] = scenario.name.split('/')
  try {
    const path = { scope, name, version: scenario.version }
    const { data } = await api.GET('/v1/packages/{scope}/{name}/versions/{version}', { params: { path } })
    const { agentgym } = data.manifest as { agentgym?: { success?: unknown } }
    return successCriteriaSchema.safeParse(agentgym?.success).data ?? {}
  } catch {
    return {}
  }
}

/** Other seeds of a run: completed, with everything else the same. */
async function readSiblings(visit: Visit, run: Run): Promise<ProgressEvent[][]> {
  const query = { state: 'completed' as const, scenario: run.scenario.name, account: run.owner, limit: 50 }
  const { data } = await visit.api.GET('/v1/runs', { params: { query } })
  const siblings = data.runs.filter((other) => other.id !== run.id && sameButSeed(other) === sameButSeed(run))
  return Promise.all(siblings.slice(0, mostSiblings).map(({ id }) => readPoints(visit, id)))
}

/** Equal for runs that differ in nothing but their seeds. */
export function sameButSeed({ scenario, algorithm, settings, parent }: Run): string {
  const sorted = Object.entries(settings).sort(([a], [b]) => (a < b ? -1 : 1))
  return JSON.stringify([scenario.hash, algorithm, sorted, parent?.model_hash ?? null])
}

async function readSharing({ api, account }: Visit, { id, owner }: Run): Promise<RunSharing | null> {
  if (account === null || !accountsOf(account, 'member').includes(owner)) return null
  const { data } = await api.GET('/v1/runs/{id}/sharing', { params: { path: { id } } })
  return data
}

/** Agent and price of a run's published package; null if it is gone, or not published. */
async function readPublished({ api }: Visit, { agent }: Run): Promise<PublishedAgent | null> {
  if (agent === null || agent.package === null) return null
  const [scope, name] = agent.package.name.split('/')
  try {
    const [version, item] = await Promise.all([
      api.GET('/v1/packages/{scope}/{name}/versions/{version}', {
        params: { path: { scope, name, version: agent.package.version } },
      }),
      api.GET('/v1/packages/{scope}/{name}', { params: { path: { scope, name } } }),
    ])
    const { state, verification } = version.data
    const { price_minor, price_kind, currency } = item.data
    return { state, verification, price_minor, price_kind, currency }
  } catch (error) {
    if (error instanceof AgentGymError) return null
    throw error
  }
}

/** The refused form of a run's page, with its errors and entered values. */
export type RefusedForm = { form: 'act' | 'publish' | 'evaluate' | 'share'; failure: FormFailure; values: FormValues }

/** What a run is called: its note, else what distinguishes it from other runs on its scenario. */
export function runName({ note, algorithm, seed }: Pick<Run, 'note' | 'algorithm' | 'seed'>): string {
  return note ?? `${algorithm.toUpperCase()}, seed ${seed}`
}

export function isRunId(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text)
}
