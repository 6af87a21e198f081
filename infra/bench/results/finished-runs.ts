import { appendFile, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'

/** A finished run of the suite. */
const finishedRunSchema = z.strictObject({
  experiment: z.string(),
  seed: z.int().positive(),
  /**
   * What decides the result: the scenario's code, every setting, and the rules by which others are chosen. A run of another
   * configuration is out of date.
   */
  configuration: z.string(),
  steps: z.int().positive(),
  /** Over held-out episodes. */
  score: z.number(),
  /** Of the first episodes that ended, when the policy was still nearly random. */
  untrained: z.number(),
  /** Whether all criteria of the scenario are met. */
  success: z.boolean(),
  /** Means over the same episodes that the scenario's success criteria ask for; runs of older versions have none. */
  criteria: z.record(z.string(), z.number()).optional(),
  /** Settings that the run chose by its scenario. */
  chosen: z.record(z.string(), z.union([z.number(), z.string()])),
  seconds: z.number(),
})
export type FinishedRun = z.infer<typeof finishedRunSchema>

const file = fileURLToPath(new URL('./finished-runs.jsonl', import.meta.url))

/** One a line, in the order in which they ended; the newest of each experiment and seed. */
export async function readFinishedRuns(path = file): Promise<FinishedRun[]> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return ''
    throw error
  })
  const runs = text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => finishedRunSchema.parse(JSON.parse(line)))
  return [...new Map(runs.map((run) => [`${run.experiment} ${run.seed}`, run])).values()]
}

/** At once, so that a suite that is interrupted loses the run under way only. */
export async function keepFinishedRun(run: FinishedRun, path = file): Promise<void> {
  await appendFile(path, `${JSON.stringify(run)}\n`)
}
