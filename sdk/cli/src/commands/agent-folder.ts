import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { AgentGymError, algorithmSettings, namingFile } from '@agentgym/contract'
import { z } from 'zod'
import { writePrivateFile } from '../account/write-private-file.ts'
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
  /** Folder of the agent to start from; absent: random weights. */
  from: z.string().optional(),
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
    const complete = isComplete(contents)
    const others = '--out DIR for another folder, or --force to start over and move it aside.'
    const extend = existsSync(options.checkpoint) ? '--resume --steps N to train it for N steps in all, ' : ''
    throw new AgentGymError({
      code: 'usage_invalid',
      message: `${shown} already contains ${complete ? 'an agent' : 'an unfinished run'}`,
      hint: `Use ${complete ? extend : '--resume to continue it, '}${others}`,
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
  await namingFile(folder, () => mkdir(folder, { recursive: true }))
  await writePrivateFile(join(folder, requestFile), `${JSON.stringify({ format: 1, ...request }, null, 2)}\n`, 0o644)
}

/** At the end of a run, agent.json appears and run.json disappears. */
const isComplete = (contents: string[]) => contents.includes('agent.json') && !contents.includes(requestFile)

/** A run's checkpoint, as far as resuming needs to know it. */
export type Checkpointed = { seed: number; steps: number }

/**
 * The options of the run to resume: those of `run.json`, overridden by the given ones. Without a checkpoint, the run
 * starts from the beginning; a complete run can only be resumed for more steps.
 */
export async function resumedRequest(
  folder: string,
  given: Partial<RunRequest>,
  checkpoint: Checkpointed | null,
  context: PathContext,
): Promise<RunRequest> {
  const contents = await listFolder(folder, context)
  const stored = await readRunRequest(folder, context)
  if (checkpoint === null && stored === undefined) throw nothingToResume(folder, contents, context)
  const longer = given.steps !== undefined || stepNames.some((name) => given.set?.[name] !== undefined)
  if (checkpoint !== null && isComplete(contents) && !longer) throw alreadyComplete(folder, checkpoint, context)
  const set = { ...stored?.set }
  if (longer) for (const name of stepNames) delete set[name]
  return {
    algorithm: given.algorithm ?? stored?.algorithm,
    steps: given.steps ?? stored?.steps,
    seed: given.seed ?? checkpoint?.seed ?? stored?.seed ?? 1,
    set: { ...set, ...given.set },
    from: stored?.from,
  }
}

/** `steps`, and its names in other libraries. */
const stepNames = [
  'steps',
  ...new Set(
    Object.values(algorithmSettings).flatMap(({ aliases }) =>
      Object.keys(aliases).filter((name) => aliases[name] === 'steps'),
    ),
  ),
]

function nothingToResume(folder: string, contents: string[], context: PathContext): AgentGymError {
  const shown = shellQuote(context.displayPath(folder))
  const kept = contents.includes('agent.json')
  return new AgentGymError({
    code: 'file_not_found',
    message: kept ? `the agent in ${shown} has no checkpoint to resume from` : `no run to resume in ${shown}`,
    hint: kept
      ? 'Train another one: --out DIR for another folder, or --force to start over and move this one aside.'
      : 'Remove --resume to start a run, or set its folder with --out.',
    data: { path: folder },
  })
}

function alreadyComplete(folder: string, { steps }: Checkpointed, context: PathContext): AgentGymError {
  return new AgentGymError({
    code: 'usage_invalid',
    message: `the run in ${shellQuote(context.displayPath(folder))} is complete after ${steps} steps`,
    hint: `To train it further, give its new total: --resume --steps ${2 * steps}.`,
    data: { path: folder, steps },
  })
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
        hint: 'Delete the file, and try again: the checkpoint has the settings too.',
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
