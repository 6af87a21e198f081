/** A scenario's new folder: what it is called, what must not be in it, and the library that its sources import. */
import { existsSync } from 'node:fs'
import { mkdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'
import { AgentGymError, namingFile, scenarioPackageSchema } from '@agentgym/contract'
import type { CommandContext } from '../command-context.ts'
import { unscopedName } from '../targets/scenarios.ts'
import { shellQuote } from '../terminal/text.ts'

/** What package.json names as `@agentgym/scenario`, and where `npm install` links it. */
export const library = 'vendor/scenario'
const link = 'node_modules/@agentgym/scenario'

/** Refuses a folder that has one of these files, or the library: nothing is overwritten. */
export async function refuseConflicts(
  folder: string,
  files: readonly string[],
  context: CommandContext,
): Promise<void> {
  const entry = await stat(folder).catch(() => undefined)
  const shown = shellQuote(context.displayPath(folder))
  if (entry && !entry.isDirectory()) {
    throw new AgentGymError({
      code: 'usage_invalid',
      message: `${shown} is a file, not a folder`,
      hint: 'Choose a new or empty folder.',
      data: { path: folder },
    })
  }
  const present = [...files, library].filter((file) => existsSync(join(folder, file)))
  if (present.length === 0) return
  throw new AgentGymError({
    code: 'usage_invalid',
    message: `${shown} already contains ${present.join(', ')}; nothing was written`,
    hint: 'Choose another folder, or remove these files.',
    data: { path: folder, files: present },
  })
}

/**
 * Writes files by their paths, and files of a template as they are. A file that already exists is an error. Returns the paths.
 */
export async function writeScenarioFiles(
  folder: string,
  written: Readonly<Record<string, string>>,
  { template, files }: { template: string; files: readonly string[] },
): Promise<string[]> {
  const all = { ...written }
  // A package manager leaves a .gitignore out of what it packs, so the template has another name.
  for (const file of files) all[file] = await readFile(join(template, file.replace(/^\./, '')), 'utf8')
  for (const [file, text] of Object.entries(all)) {
    const path = join(folder, file)
    await namingFile(path, async () => {
      await mkdir(dirname(path), { recursive: true })
      await writeFile(path, text, { flag: 'wx' })
    })
  }
  return Object.keys(all)
}

/** Gives editors and tests `@agentgym/scenario` at once, without an install. */
export async function writeLibrary(folder: string, context: CommandContext): Promise<void> {
  const runtime = await context.runtime()
  const path = join(folder, library)
  await namingFile(path, () => runtime.writeScenarioLibrary(path))
  if (existsSync(join(folder, 'node_modules'))) return
  await mkdir(dirname(join(folder, link)), { recursive: true })
  await symlink(relative(dirname(link), library), join(folder, link))
}

/** Throws `config_invalid` for a name or a title that has a problem. */
export function requireValid(field: string, problem: string | undefined, value: string): void {
  if (problem === undefined) return
  throw new AgentGymError({
    code: 'config_invalid',
    message: `--${field} is ${JSON.stringify(value.slice(0, 250))}, which is not ${problem}`,
    hint:
      field === 'name'
        ? 'Set a name such as my-maze or @you/my-maze with --name.'
        : 'Set a shorter title with --title.',
    data: { field },
  })
}

/** Why a name cannot be an npm name; undefined when it can. */
export function checkName(name: string): string | undefined {
  const parsed = scenarioPackageSchema.shape.name.safeParse(name)
  return parsed.success ? undefined : parsed.error.issues[0].message
}

/** Why a title is invalid; undefined when it is valid. */
export function checkTitle(title: string): string | undefined {
  const parsed = scenarioPackageSchema.shape.agentgym.shape.title.safeParse(title.trim())
  return parsed.success ? undefined : 'one to 80 characters'
}

/** `My Maze` → `my-maze`. */
export function nameFromFolder(folder: string): string {
  return basename(folder)
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, '-')
    .replace(/^[._-]+|[._-]+$/g, '')
}

/** `@you/my-maze` → `My maze`. */
export function titleFromName(name: string): string {
  const words = unscopedName(name)
    .replace(/[._-]+/g, ' ')
    .trim()
  return (words.charAt(0).toUpperCase() + words.slice(1)).slice(0, 80)
}

export type NewFolderFlags = { out?: string; name?: string; title?: string }

/** Where a new scenario goes and what it is called. Throws `config_invalid` for an invalid name or title. */
export function nameFolder(
  suggested: string,
  flags: NewFolderFlags,
  context: CommandContext,
): { folder: string; name: string; title: string } {
  const folder = context.resolve(flags.out ?? suggested)
  const name = flags.name ?? nameFromFolder(folder)
  requireValid('name', checkName(name), name)
  const title = flags.title ?? titleFromName(name)
  requireValid('title', checkTitle(title), title)
  return { folder, name, title }
}
