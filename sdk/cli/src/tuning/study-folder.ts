import { appendFile, mkdir, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { AgentGymError, namingFile, parseJson, trainingAlgorithms } from '@agentgym/contract'
import { z } from 'zod'
import type { Runtime } from '../command-context.ts'

const count = z.int().nonnegative()

/** What a study is a function of; with the same, the same scenario and the same machine, it comes to the same result. */
const studySchema = z.strictObject({
  format: z.literal(1),
  scenario: z.strictObject({ name: z.string(), version: z.string(), hash: z.string() }),
  algorithm: z.enum(trainingAlgorithms),
  /** Of a whole run, in environment steps. */
  steps: z.int().positive(),
  rungs: z.array(z.int().positive()).min(1),
  reduction: z.number().min(2),
  /** Environment steps of the search; the confirmation comes on top. */
  budget: count,
  seed: count,
  /** Jobs at once. What a job is depends on it. */
  parallel: z.int().positive(),
  /** `return_mean`, or a metric of the scenario. */
  metric: z.string(),
  /** Settings that are not searched, as typed. */
  fixed: z.record(z.string(), z.string()),
  /** Seeds of the confirmation. */
  confirm: count,
  /** Where a study with `--remote` trains; absent: on this machine. */
  remote: z
    .strictObject({
      /** Of the study, in the idempotency keys of its runs. */
      id: z.uuid(),
      server: z.string(),
      /** Organization that the runs are for; null: the user's own account. */
      account: z.string().nullable(),
      /** The most that a run may cost. */
      budget_minor: z.int().positive().nullable(),
      /** The price per run that the user accepted. */
      price: z.strictObject({ id: z.uuid(), amount_minor: count }).nullable(),
    })
    .optional(),
})
export type Study = z.infer<typeof studySchema>
export type RemoteStudy = NonNullable<Study['remote']>

const resultSchema = z.strictObject({
  /** Number of the job, from 0. */
  job: count,
  candidate: count,
  rung: count,
  /** Null: it failed. */
  score: z.number().nullable(),
  tie: z.number(),
  error: z.string().nullable(),
})
export type StudyResult = z.infer<typeof resultSchema>

const confirmationSchema = z.strictObject({
  arm: z.enum(['best', 'current']),
  candidate: count,
  seed: count,
  score: z.number(),
  /** Mean return of training episodes over the run: how early it learned. */
  area: z.number(),
})
export type StudyConfirmation = z.infer<typeof confirmationSchema>

/**
 * A study's folder: study.json, results.jsonl and confirmation.jsonl with one line a finished job, and the last checkpoint of
 * each candidate. A job counts once its line is written, after its checkpoint: a study that is killed repeats the jobs that
 * were running, and nothing else.
 */
export class StudyFolder {
  readonly path: string
  readonly #writeAtomically: Runtime['writeAtomically']

  constructor(path: string, runtime: Pick<Runtime, 'writeAtomically'>) {
    this.path = path
    this.#writeAtomically = runtime.writeAtomically
  }

  /** Null: there is no study. Throws `usage_invalid` for a folder with other files, `checkpoint_invalid`. */
  async read(): Promise<Study | null> {
    const names = await readdir(this.path).catch(() => [])
    if (names.length === 0) return null
    const text = await readFile(join(this.path, 'study.json'), 'utf8').catch(() => null)
    if (text === null) {
      // The lock alone is not a file of anybody's.
      if (names.every((name) => name === '.agentgym')) return null
      throw new AgentGymError({
        code: 'usage_invalid',
        message: `${this.path} is not empty and contains no study`,
        hint: 'Choose a new or empty folder with --out.',
        data: { path: this.path },
      })
    }
    const parsed = studySchema.safeParse(parseJson(text))
    if (parsed.success) return parsed.data
    throw new AgentGymError({
      code: 'checkpoint_invalid',
      message: `${join(this.path, 'study.json')} is not a valid record of a study`,
      hint: 'Start another one with --out FOLDER.',
      data: { path: this.path },
    })
  }

  async begin(study: Study): Promise<void> {
    await namingFile(this.path, () => mkdir(join(this.path, 'candidates'), { recursive: true }))
    await this.#writeAtomically(join(this.path, 'study.json'), `${JSON.stringify(study, null, 2)}\n`)
  }

  results(): Promise<StudyResult[]> {
    return this.#lines('results.jsonl', resultSchema)
  }

  confirmations(): Promise<StudyConfirmation[]> {
    return this.#lines('confirmation.jsonl', confirmationSchema)
  }

  async addResult(result: StudyResult, checkpoint: Uint8Array | null): Promise<void> {
    const { candidate, rung } = result
    if (checkpoint !== null) await this.#writeAtomically(this.#checkpoint(candidate, rung), checkpoint)
    await this.#append('results.jsonl', result)
    if (rung > 0) await rm(this.#checkpoint(candidate, rung - 1), { force: true })
  }

  addConfirmation(confirmation: StudyConfirmation): Promise<void> {
    return this.#append('confirmation.jsonl', confirmation)
  }

  /** Where a candidate's training paused at a rung. */
  async checkpoint(candidate: number, rung: number): Promise<Uint8Array> {
    const path = this.#checkpoint(candidate, rung)
    const bytes = await readFile(path).catch((cause: unknown) => {
      throw new AgentGymError(
        {
          code: 'checkpoint_invalid',
          message: `${path}, from which a candidate goes on, cannot be read`,
          hint: 'Start another study with --out DIR.',
          data: { path },
        },
        { cause },
      )
    })
    return new Uint8Array(bytes)
  }

  /** Once the search is over, nothing goes on from a checkpoint. */
  async removeCheckpoints(): Promise<void> {
    await rm(join(this.path, 'candidates'), { recursive: true, force: true })
  }

  async writePicture(svg: string): Promise<string> {
    const path = join(this.path, 'study.svg')
    await this.#writeAtomically(path, svg)
    return path
  }

  #checkpoint(candidate: number, rung: number): string {
    return join(this.path, 'candidates', `${candidate}-${rung}.safetensors`)
  }

  async #append(file: string, value: unknown): Promise<void> {
    const path = join(this.path, file)
    await namingFile(path, () => appendFile(path, `${JSON.stringify(value)}\n`))
  }

  /** A last line that a kill has cut off is left out, and ended so that the next one is whole. */
  async #lines<Line>(file: string, schema: z.ZodType<Line>): Promise<Line[]> {
    const path = join(this.path, file)
    const text = await readFile(path, 'utf8').catch(() => '')
    if (text !== '' && !text.endsWith('\n')) await appendFile(path, '\n')
    return text.split('\n').flatMap((line) => schema.safeParse(parseJson(line)).data ?? [])
  }
}
