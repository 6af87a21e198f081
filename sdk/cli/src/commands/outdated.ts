import { AgentGymError } from '@agentgym/contract'
import { type Connection, findConnection } from '../account/connection.ts'
import type { CommandContext } from '../command-context.ts'
import { type LockedPackage, lockFileName, readLock } from '../packages/lock-file.ts'
import { resolvePackage } from '../packages/resolve-package.ts'
import { safeText } from '../terminal/safe-text.ts'
import { renderTable } from '../terminal/table.ts'

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
