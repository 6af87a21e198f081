import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm, rmdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { AgentGymError } from '@agentgym/contract'
import { z } from 'zod'
import type { CommandContext } from '../command-context.ts'
import { shellQuote } from '../terminal/text.ts'

/** Errors name folders as the user would. */
type PathContext = Pick<CommandContext, 'displayPath'>

/** The file in an agent's folder that records the options of a run, so that `--resume` needs none of them again. */
const requestFile = 'run.json'

const runRequestSchema = z.strictObject({
  format: z.literal(1),
  algorithm: z.string().optional(),
  steps: z.int().positive().optional(),
  seed: z.int().nonnegative(),
  set: z.record(z.string(), z.string()),
})

/** The options of `train`, except the scenario and the folder. */
export type RunRequest = Omit<z.infer<typeof runRequestSchema>, 'format'>

/**
 * Ensures that a new run overwrites nothing: an agent or a checkpoint in the folder is an error, or with `force` moved
 * aside; a folder with other files is always an error. `checkpoint` is the path of an unfinished run's checkpoint.
 * Returns where an existing agent was moved to.
 */
export async function claimAgentFolder(
  folder: string,
  options: { force: boolean; checkpoint: string },
  context: PathContext,
): Promise<{ movedTo: string | null }> {
  const contents = await listFolder(folder, context)
  if (contents.every((name) => name === requestFile)) return { movedTo: null }
  const ours = contents.includes('agent.json') || contents.includes(requestFile) || existsSync(options.checkpoint)
  const shown = shellQuote(context.displayPath(folder))
  if (!ours) {
    throw new AgentGymError({
      code: 'usage_invalid',
      message: `${shown} is not empty and contains no agent`,
      hint: 'Choose a new or empty folder with --out.',
      data: { path: folder },
    })
  }
  if (!options.force) {
    const what = contents.includes('agent.json') ? 'an agent' : 'an unfinished run'
    throw new AgentGymError({
      code: 'usage_invalid',
      message: `${shown} already contains ${what}`,
      hint: 'Use --resume to continue it, --out DIR for another folder, or --force to start over and move it aside.',
      data: { path: folder },
    })
  }
  let number = 1
  while (existsSync(`${folder}.${number}`)) number++
  const movedTo = `${folder}.${number}`
  await rename(folder, movedTo)
  return { movedTo }
}

export async function writeRunRequest(folder: string, request: RunRequest): Promise<void> {
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, requestFile), `${JSON.stringify({ format: 1, ...request }, null, 2)}\n`)
}

/** The options of the run to resume: those of `run.json`, overridden by the given ones. */
export async function resumedRequest(
  folder: string,
  given: Partial<RunRequest>,
  context: PathContext,
): Promise<RunRequest> {
  if ((await listFolder(folder, context)).length === 0) {
    throw new AgentGymError({
      code: 'file_not_found',
      message: `no run to resume in ${shellQuote(context.displayPath(folder))}`,
      hint: 'Remove --resume to start a run, or set its folder with --out.',
      data: { path: folder },
    })
  }
  const stored = await readRunRequest(folder, context)
  return {
    algorithm: given.algorithm ?? stored?.algorithm,
    steps: given.steps ?? stored?.steps,
    seed: given.seed ?? stored?.seed ?? 1,
    set: { ...stored?.set, ...given.set },
  }
}

/** After a run that completed: agent.json records how it was trained. */
export async function forgetRunRequest(folder: string): Promise<void> {
  await rm(join(folder, requestFile), { force: true })
}

/** After a run that failed before it wrote anything: removes its record and folder. */
export async function dropEmptyRun(folder: string, context: PathContext): Promise<void> {
  const contents = await listFolder(folder, context)
  if (contents.length !== 1 || contents[0] !== requestFile) return
  await rm(join(folder, requestFile))
  await rmdir(folder)
}

async function readRunRequest(folder: string, context: PathContext): Promise<RunRequest | undefined> {
  const path = join(folder, requestFile)
  if (!existsSync(path)) return undefined
  try {
    return runRequestSchema.parse(JSON.parse(await readFile(path, 'utf8')))
  } catch (cause) {
    throw new AgentGymError(
      {
        code: 'checkpoint_invalid',
        message: `${shellQuote(context.displayPath(path))} is not a valid record of a run`,
        hint: 'Delete the file, and repeat the options of the run together with --resume.',
        data: { path },
      },
      { cause },
    )
  }
}

async function listFolder(folder: string, context: PathContext): Promise<string[]> {
  try {
    return await readdir(folder)
  } catch (error) {
    if (isCode(error, 'ENOENT')) return []
    if (isCode(error, 'ENOTDIR')) {
      throw new AgentGymError({
        code: 'usage_invalid',
        message: `${shellQuote(context.displayPath(folder))} is a file, not a folder`,
        hint: 'Choose a new or empty folder with --out.',
        data: { path: folder },
      })
    }
    throw error
  }
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
