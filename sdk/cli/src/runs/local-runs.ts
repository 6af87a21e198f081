import { randomUUID } from 'node:crypto'
import { appendFile, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  AgentGymError,
  evaluationSchema,
  type ProgressEvent,
  parseJson,
  progressEventSchema,
  type ResultEvent,
  successCriteriaSchema,
  type TrainingEvent,
} from '@agentgym/contract'
import { z } from 'zod'
import { agentGymHome } from '../account/connection.ts'
import type { CommandIo } from '../command-io.ts'
import type { TrainingPlan } from '../training-view/run-state.ts'

/**
 * Runs on this machine: each has a folder `runs/ID` in the configuration folder, with run.json and its curve as
 * progress.jsonl, one progress event a line. They outlive the agent's folder.
 */
const localRunSchema = z.strictObject({
  format: z.literal(1),
  id: z.uuid(),
  /** `interrupted`: its process ended without a word. */
  state: z.enum(['running', 'completed', 'failed', 'stopped', 'interrupted']),
  /** `name@version` */
  scenario: z.string(),
  algorithm: z.string(),
  settings: z.record(z.string(), z.unknown()),
  seed: z.int().nonnegative(),
  success: successCriteriaSchema,
  /** Folder of the agent. */
  agent: z.string(),
  pid: z.int().nonnegative(),
  started_at: z.iso.datetime(),
  ended_at: z.iso.datetime().nullable(),
  steps: z.int().nonnegative(),
  steps_total: z.int().nonnegative(),
  seconds: z.number().nonnegative(),
  return_mean: z.number().nullable(),
  evaluation: evaluationSchema.nullable(),
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
})
export type LocalRun = z.infer<typeof localRunSchema>

type Home = Pick<CommandIo, 'environment' | 'cwd'>

/** The oldest of more are removed when a run starts. */
const mostRuns = 1_000

/** Curve points are written in batches this long apart. */
const FLUSH_MS = 1_000

/** Records a run while it trains. A record that cannot be written never ends the run: `problem` says why. */
export class RunRecorder {
  readonly #folder: string
  #run: LocalRun
  #lines = ''
  #flushedAt = 0
  #writing: Promise<void> = Promise.resolve()
  /** The first error in writing. */
  problem: unknown

  private constructor(folder: string, run: LocalRun) {
    this.#folder = folder
    this.#run = run
  }

  /** With `resume`, the record of the last run in that agent folder continues. */
  static async start(home: Home, plan: TrainingPlan & { agent: string }, nowMs = Date.now()): Promise<RunRecorder> {
    let problem: unknown
    const existing = await listLocalRuns(home).catch((error: unknown) => {
      problem = error
      return []
    })
    const before = plan.resume ? existing.find((run) => run.agent === plan.agent) : undefined
    for (const { id } of existing.slice(mostRuns - 1)) await rm(folderOf(home, id), { recursive: true, force: true })
    const run: LocalRun = {
      format: 1,
      id: before?.id ?? randomUUID(),
      state: 'running',
      scenario: plan.scenario,
      algorithm: plan.algorithm,
      settings: plan.settings,
      seed: plan.seed,
      success: plan.success,
      agent: plan.agent,
      pid: process.pid,
      started_at: before?.started_at ?? new Date(nowMs).toISOString(),
      ended_at: null,
      steps: before?.steps ?? 0,
      steps_total: plan.steps,
      seconds: before?.seconds ?? 0,
      return_mean: before?.return_mean ?? null,
      evaluation: null,
      error: null,
    }
    const recorder = new RunRecorder(folderOf(home, run.id), run)
    recorder.problem = problem
    recorder.#write(async () => {
      await mkdir(recorder.#folder, { recursive: true })
      await recorder.#writeRecord()
    })
    await recorder.#writing
    return recorder
  }

  get id(): string {
    return this.#run.id
  }

  event(event: TrainingEvent): void {
    if (event.event === 'evaluation') this.#run.evaluation = event.evaluation
    if (event.event !== 'progress') return
    const { steps, steps_total, seconds, return_mean } = event
    this.#run = { ...this.#run, steps, steps_total, seconds, return_mean }
    this.#lines += `${JSON.stringify(event)}\n`
    if (performance.now() - this.#flushedAt >= FLUSH_MS) this.#flush()
  }

  async completed({ steps, seconds, evaluation }: ResultEvent): Promise<void> {
    await this.#end({ state: 'completed', steps, seconds, evaluation })
  }

  async failed(error: unknown): Promise<void> {
    const known = error instanceof AgentGymError ? error : undefined
    const state = known?.code === 'training_cancelled' ? 'stopped' : 'failed'
    const message = error instanceof Error ? error.message : String(error)
    await this.#end({ state, error: { code: known?.code ?? 'internal', message } })
  }

  async #end(change: Partial<LocalRun>): Promise<void> {
    this.#run = { ...this.#run, ...change, ended_at: new Date().toISOString() }
    this.#flush()
    await this.#writing
  }

  #flush(): void {
    const lines = this.#lines
    this.#lines = ''
    this.#flushedAt = performance.now()
    this.#write(async () => {
      await appendFile(join(this.#folder, 'progress.jsonl'), lines)
      await this.#writeRecord()
    })
  }

  #write(work: () => Promise<void>): void {
    this.#writing = this.#writing.then(work).catch((error: unknown) => {
      this.problem ??= error
    })
  }

  async #writeRecord(): Promise<void> {
    const path = join(this.#folder, 'run.json')
    await writeFile(`${path}.tmp`, `${JSON.stringify(this.#run, null, 2)}\n`)
    await rename(`${path}.tmp`, path)
  }
}

/** All runs of this machine, newest first. Records that cannot be read are left out. */
export async function listLocalRuns(home: Home): Promise<LocalRun[]> {
  const ids = await readdir(runsFolder(home)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  const runs = await Promise.all(ids.map((id) => readRecord(home, id)))
  return runs
    .filter((run): run is LocalRun => run !== null)
    .sort((a, b) => b.started_at.localeCompare(a.started_at) || a.id.localeCompare(b.id))
}

/** The run whose ID begins with `text`; null if there is none. Several are `usage_invalid`. */
export async function findLocalRun(home: Home, text: string): Promise<LocalRun | null> {
  const beginning = text.trim().toLowerCase()
  if (beginning.length < 4) return null
  const found = (await listLocalRuns(home)).filter(({ id }) => id.startsWith(beginning))
  if (found.length <= 1) return found[0] ?? null
  throw new AgentGymError({
    code: 'usage_invalid',
    message: `${found.length} runs of this machine start with ${beginning}`,
    hint: `Use more characters, such as ${found[0].id.slice(0, beginning.length + 4)}.`,
    data: { runs: found.map(({ id }) => id) },
  })
}

/**
 * The curve of a run, one event per iteration. A resumed run repeats the iterations after its checkpoint: the later ones
 * count. A last line that was cut off is left out.
 */
export async function readLocalCurve(home: Home, id: string): Promise<ProgressEvent[]> {
  const path = join(folderOf(home, id), 'progress.jsonl')
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return ''
    throw error
  })
  const points: ProgressEvent[] = []
  for (const line of text.split('\n')) {
    const point = progressEventSchema.safeParse(parseJson(line)).data
    if (point === undefined) continue
    while ((points.at(-1)?.iteration ?? 0) >= point.iteration) points.pop()
    points.push(point)
  }
  return points
}

export async function removeLocalRun(home: Home, id: string): Promise<void> {
  await rm(folderOf(home, id), { recursive: true, force: true })
}

async function readRecord(home: Home, id: string): Promise<LocalRun | null> {
  const text = await readFile(join(folderOf(home, id), 'run.json'), 'utf8').catch(() => '')
  const run = localRunSchema.safeParse(parseJson(text)).data ?? null
  if (run === null || run.id !== id) return null
  return run.state === 'running' && !isAlive(run.pid) ? { ...run, state: 'interrupted' } : run
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // Another user's process.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

function runsFolder(home: Home): string {
  return join(agentGymHome(home), 'runs')
}

function folderOf(home: Home, id: string): string {
  return join(runsFolder(home), id)
}
