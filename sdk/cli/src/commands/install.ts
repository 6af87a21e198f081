import { AgentGymError } from '@agentgym/contract'
import { findConnection } from '../account/connection.ts'
import type { CommandContext } from '../command-context.ts'
import { type InstalledPackage, installPackage } from '../packages/install-package.ts'
import { lockFileName, readLock } from '../packages/lock-file.ts'
import { requirePackageTarget } from '../registry/package-target.ts'
import { packageKind } from '../targets/read-scenario-package.ts'
import { safeText } from '../terminal/safe-text.ts'
import { shellQuote } from '../terminal/shell-quote.ts'
import { transferProgress } from '../terminal/transfer-progress.ts'

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
  const [what, command] = (await packageKind(folder)) === 'agent' ? ['Play it', 'eval'] : ['Train on it', 'train']
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
