import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parsePackageTarget, readPackage } from '@agentgym/agent/packages'
import { AgentGymError } from '@agentgym/contract'
import type { VersionChanges } from '@agentgym/runtime'
import type { Command } from 'commander'
import type { CommandContext, MakeAction } from '../command-context.ts'
import { findLocalScenario, installExact, obtainScenarioFolder } from '../targets/scenarios.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { safeText, wrapText } from '../terminal/text.ts'

/** `agentgym scenario diff`. */
export function addScenarioDiff(scenario: Command, action: MakeAction): void {
  scenario
    .command('diff')
    .argument('<OLD>', 'folder, tarball or NAME@VERSION')
    .argument('<NEW>', 'folder, tarball or NAME@VERSION')
    .description(
      'compare two versions under the same seeds and actions; exits with 1 if the version number hides a change',
    )
    .action(action(scenarioDiff))
}

/** Shows what differs between two versions, and whether the version number says so; exit 1 where it does not. */
async function scenarioDiff(before: string, after: string, context: CommandContext): Promise<void> {
  const temporary = await mkdtemp(path.join(tmpdir(), 'agentgym-diff-'))
  try {
    const runtime = await context.runtime()
    const [old, fresh] = [
      await runtime.loadScenario(await folderOf(before, path.join(temporary, 'old'), context)),
      await runtime.loadScenario(await folderOf(after, path.join(temporary, 'new'), context)),
    ]
    const changes = await runtime.diffScenarios(old, fresh)
    context.printJson(changes)
    for (const line of diffLines(changes, runtime.describeChange, context.terminal)) context.print(line)
    if (!changes.ok) context.exitCode = 1
  } finally {
    await rm(temporary, { recursive: true, force: true })
  }
}

/** A local folder or built-in, the files of a tarball, or an installed package; the lock file stays as it is. */
async function folderOf(target: string, temporary: string, context: CommandContext): Promise<string> {
  if (/\.(tgz|tar\.gz)$/.test(target)) return unpack(context.resolve(target), temporary)
  const local = await findLocalScenario(target, context)
  if (local !== undefined) return local
  const wanted = parsePackageTarget(target)
  if (wanted?.range === undefined) return obtainScenarioFolder(target, context)
  const installed = await installExact({ name: wanted.name, version: wanted.range }, context)
  if (installed !== undefined) return installed
  throw new AgentGymError({
    code: 'package_not_found',
    message: `${target.slice(0, 200)} is not available`,
    hint: `List its versions with agentgym info ${wanted.name}.`,
    data: { target: target.slice(0, 200) },
  })
}

async function unpack(file: string, folder: string): Promise<string> {
  const found = await stat(file).catch(() => undefined)
  if (found === undefined) {
    throw new AgentGymError({
      code: 'file_not_found',
      message: `no tarball ${file}`,
      hint: 'Name the .tgz file of a package, as npm pack writes it.',
      data: { path: file },
    })
  }
  for (const [name, bytes] of await readPackage(await readFile(file))) {
    const target = path.join(folder, name)
    await mkdir(path.dirname(target), { recursive: true })
    await writeFile(target, bytes)
  }
  return folder
}

const kinds: Record<VersionChanges['changes'][number]['kind'], string> = {
  space: 'spaces',
  setting: 'settings',
  criterion: 'success',
  metric: 'metrics',
  observation: 'observations',
  mask: 'masks',
  reward: 'rewards',
  end: 'episode ends',
}

/** What changed, by kind, and what the version number should be. */
export function diffLines(
  { old, new: fresh, changes, needed, declared, ok, compared_steps: steps }: VersionChanges,
  describe: (change: VersionChanges['changes'][number]) => string,
  { paint, symbols, columns }: Terminal,
): string[] {
  const title = `${paint.bold(safeText(`${old.name}@${old.version}`, 240))} → ${paint.bold(safeText(`${fresh.name}@${fresh.version}`, 240))}`
  const width = Math.max(20, Math.min(columns(), 110) - 18)
  const lines = changes.flatMap((change) => {
    const [first, ...rest] = wrapText(safeText(describe(change), 1_000), width)
    return [`  ${kinds[change.kind].padEnd(14)}  ${first}`, ...rest.map((line) => ' '.repeat(18) + line)]
  })
  if (changes.length === 0) {
    return [title, `${paint.accent(symbols.ok)} Every one of ${steps.toLocaleString('en')} compared steps is the same`]
  }
  const verdict = ok
    ? `${paint.accent(symbols.ok)} These changes need a ${needed} version, and this is ${article(declared)}`
    : `${paint.fail(symbols.failed)} These changes need a ${needed} version, and this is ${article(declared)}`
  return [title, ...lines, verdict]
}

function article(declared: VersionChanges['declared']): string {
  return declared === 'none' ? 'the same version' : `a ${declared} version`
}
