import { type LockedPackage, lockFileName, readLock } from '@agentgym/agent/packages'
import { AgentGymError } from '@agentgym/contract'
import { packageKind } from '@agentgym/runtime/scenario-package'
import type { Command } from 'commander'
import { type Connection, findConnection } from '../account/connection.ts'
import type { CommandContext, MakeAction } from '../command-context.ts'
import { type InstalledPackage, installPackage } from '../packages/install-package.ts'
import { requirePackageTarget, resolvePackage } from '../registry/package-target.ts'
import { transferProgress } from '../terminal/progress.ts'
import { renderTable } from '../terminal/table.ts'
import { safeText, shellQuote } from '../terminal/text.ts'

export function addInstallCommands(program: Command, action: MakeAction): void {
  program
    .command('install')
    .argument('[NAME...]', '@scope/name[@range, tag or version]; without names, installs from agentgym.lock')
    .description('install packages and record them in agentgym.lock')
    .action(action(install))
  program.command('outdated').description('list installed packages that have newer versions').action(action(outdated))
}

/** `agentgym install`: the named packages, or the exact versions of agentgym.lock. */
export async function install(names: readonly string[], context: CommandContext): Promise<void> {
  const wanted =
    names.length > 0 ? names.map((name) => ({ target: requirePackageTarget(name) })) : await lockedTargets(context)
  const connection = await findConnection(context)
  const installed: InstalledPackage[] = []
  for (const { target, ...locked } of wanted) {
    const progress = transferProgress(safeText(target.name, 60), context)
    let one: InstalledPackage
    try {
      one = await installPackage(connection, target, { ...locked, onProgress: progress.update }, context)
    } finally {
      progress.close()
    }
    installed.push(one)
    printInstalled(one, context)
  }
  context.printJson({ ok: true, lock: lockFileName, packages: installed })
  const { paint, symbols } = context.terminal
  const [{ name, folder }] = installed
  const [what, command] = packageKind(folder) === 'agent' ? ['Evaluate it', 'eval'] : ['Train on it', 'train']
  context.print(`${symbols.next} ${what}: ${paint.accent(`agentgym ${command} ${shellQuote(name)}`)}`)
}

/** One line of result, followed by warnings about the version. */
export function printInstalled(one: InstalledPackage, context: CommandContext): void {
  const { paint, symbols } = context.terminal
  const label = paint.bold(safeText(`${one.name}@${one.version}`, 240))
  const how = one.cached ? 'already on this machine' : `${one.integrity.slice(0, 15)}${symbols.ellipsis} verified`
  context.print(`${paint.accent(symbols.ok)} Installed ${label} ${paint.dim(`(${how}; ${lockFileName})`)}`)
  if (one.deprecated !== null) context.print(`${symbols.warning} Deprecated: ${safeText(one.deprecated, 500)}`)
  if (one.yanked) context.print(`${symbols.warning} Yanked: the publisher withdrew this version`)
}

async function lockedTargets(context: CommandContext) {
  const locked = await readLock(context.io.cwd)
  if (locked.size === 0) {
    throw new AgentGymError({
      code: 'usage_invalid',
      message: `no package given, and no ${lockFileName} in this folder`,
      hint: 'Name a package, such as agentgym install @acme/cart-pole. Find packages with agentgym search.',
    })
  }
  return [...locked].map(([name, { version, integrity, range }]) => ({
    target: { name, range: version },
    locked: integrity,
    lockedRange: range,
  }))
}

type InstalledVersion = {
  name: string
  installed: string
  /** The newest version in the range of the lock entry; null when no version matches any more. */
  wanted: string | null
  latest: string | null
  deprecated: string | null
  yanked: boolean
}

/** `agentgym outdated`: packages of agentgym.lock that have newer versions, or were deprecated or yanked. */
export async function outdated(context: CommandContext): Promise<void> {
  const connection = await findConnection(context)
  const found: InstalledVersion[] = []
  for (const [name, locked] of await readLock(context.io.cwd))
    found.push(await compareWithRegistry(connection, name, locked))
  const behind = found.filter((one) => one.installed !== one.latest || one.deprecated !== null || one.yanked)
  context.printJson({ packages: behind })
  const { terminal } = context
  const { paint, symbols } = terminal
  if (behind.length === 0) {
    context.print(
      found.length === 0
        ? `No ${lockFileName} in this folder.`
        : `${paint.accent(symbols.ok)} All ${found.length} packages are up to date`,
    )
    return
  }
  const columns = [
    { title: 'Package' },
    { title: 'Installed' },
    { title: 'Wanted' },
    { title: 'Latest' },
    { title: 'Note', shrink: true },
  ]
  const rows = behind.map((one) => [
    safeText(one.name, 214),
    one.installed,
    one.wanted ?? '-',
    one.latest ?? '-',
    safeText(noteOf(one), 200),
  ])
  for (const line of renderTable(columns, rows, terminal, (text, _, column) =>
    column === 0 ? paint.bold(text) : text,
  ))
    context.print(line)
  const name = safeText(behind[0].name, 214)
  context.print(`${symbols.next} Update: ${paint.accent(`agentgym install ${name}@latest`)}`)
}

async function compareWithRegistry(
  connection: Connection,
  name: string,
  locked: LockedPackage,
): Promise<InstalledVersion> {
  const [installed, wanted, latest] = await Promise.all(
    [locked.version, locked.range, 'latest'].map((range) => resolveOrNothing(connection, name, range)),
  )
  return {
    name,
    installed: locked.version,
    wanted: wanted?.version ?? null,
    latest: latest?.version ?? null,
    deprecated: installed?.deprecated ?? null,
    yanked: installed?.yanked ?? false,
  }
}

async function resolveOrNothing(connection: Connection, name: string, range: string) {
  try {
    return await resolvePackage(connection, { name, range })
  } catch (error) {
    if (error instanceof AgentGymError && /^(package|version|tag)_not_found$/.test(error.code)) return null
    throw error
  }
}

function noteOf(one: InstalledVersion): string {
  if (one.latest === null) return 'no longer in the registry'
  if (one.yanked) return 'yanked'
  return one.deprecated === null ? '' : `deprecated: ${one.deprecated}`
}
