import { AgentGymError } from '@agentgym/contract'
import { packageKind } from '@agentgym/runtime/scenario-package'
import type { Command } from 'commander'
import { type Connection, findConnection } from '../account/connection.ts'
import type { CommandContext, MakeAction } from '../command-context.ts'
import { type InstalledPackage, installPackage } from '../packages/install-package.ts'
import { type LockedPackage, lockFileName, readLock } from '../packages/lock-file.ts'
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

/** `agentgym install`: the packages that are named, or without a name those of agentgym.lock, exactly. */
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
    sayInstalled(one, context)
  }
  context.sayJson({ ok: true, lock: lockFileName, packages: installed })
  const { paint, symbols } = context.terminal
  const [{ name, folder }] = installed
  const [what, command] = packageKind(folder) === 'agent' ? ['Play it', 'eval'] : ['Train on it', 'train']
  context.say(`${symbols.next} ${what}: ${paint.accent(`agentgym ${command} ${shellQuote(name)}`)}`)
}

/** One line of result; what speaks against the version follows. */
export function sayInstalled(one: InstalledPackage, context: CommandContext): void {
  const { paint, symbols } = context.terminal
  const label = paint.bold(safeText(`${one.name}@${one.version}`, 240))
  const how = one.cached ? 'was on this machine' : `${one.integrity.slice(0, 15)}${symbols.ellipsis} checked`
  context.say(`${paint.accent(symbols.ok)} Installed ${label} ${paint.dim(`(${how}; ${lockFileName})`)}`)
  if (one.deprecated !== null) context.say(`${symbols.warning} Deprecated: ${safeText(one.deprecated, 500)}`)
  if (one.yanked) context.say(`${symbols.warning} Yanked: its publisher advises against this version`)
}

async function lockedTargets(context: CommandContext) {
  const locked = await readLock(context.io.cwd)
  if (locked.size === 0) {
    throw new AgentGymError({
      code: 'usage_invalid',
      message: `no package was named, and there is no ${lockFileName} here to install from`,
      hint: 'Name one: agentgym install @acme/cart-pole. agentgym search finds packages.',
    })
  }
  return [...locked].map(([name, { version, integrity, range }]) => ({
    target: { name, range: version },
    locked: integrity,
    lockedRange: range,
  }))
}

type Outlook = {
  name: string
  installed: string
  /** What the range of the lock entry now means; null where nothing fits it any more. */
  wanted: string | null
  latest: string | null
  deprecated: string | null
  yanked: boolean
}

/** `agentgym outdated`: what agentgym.lock names and the registry has something newer for, or advises against. */
export async function outdated(context: CommandContext): Promise<void> {
  const connection = await findConnection(context)
  const found: Outlook[] = []
  for (const [name, locked] of await readLock(context.io.cwd)) found.push(await lookAhead(connection, name, locked))
  const behind = found.filter((one) => one.installed !== one.latest || one.deprecated !== null || one.yanked)
  context.sayJson({ packages: behind })
  const { terminal } = context
  const { paint, symbols } = terminal
  if (behind.length === 0) {
    context.say(
      found.length === 0
        ? `No ${lockFileName} here.`
        : `${paint.accent(symbols.ok)} All ${found.length} are the latest`,
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
    context.say(line)
  const name = safeText(behind[0].name, 214)
  context.say(`${symbols.next} Bring one up to date: ${paint.accent(`agentgym install ${name}@latest`)}`)
}

async function lookAhead(connection: Connection, name: string, locked: LockedPackage): Promise<Outlook> {
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

function noteOf(one: Outlook): string {
  if (one.latest === null) return 'no longer in the registry'
  if (one.yanked) return 'yanked'
  return one.deprecated === null ? '' : `deprecated: ${one.deprecated}`
}
