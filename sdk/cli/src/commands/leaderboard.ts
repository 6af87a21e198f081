import type { Leaderboard } from '@agentgym/contract'
import type { Command } from 'commander'
import { findConnection } from '../account/connection.ts'
import type { CommandContext, MakeAction } from '../command-context.ts'
import { cursorText, pageRange, wholeNumber } from '../option-values.ts'
import { requirePackageTarget, resolvePackage } from '../registry/package-target.ts'
import { safeText, shellQuote } from '../terminal/text.ts'
import { leaderboardLines, readLeaderboard } from '../verification/server-verification.ts'

export function addLeaderboardCommand(program: Command, action: MakeAction): void {
  program
    .command('leaderboard')
    .argument('<NAME>', 'scenario: @scope/name[@version]')
    .description('rank the verified agents of a scenario')
    .option('--limit <N>', 'agents per page (default: 25)', wholeNumber('limit', pageRange))
    .option('--cursor <CURSOR>', cursorText)
    .action(action(leaderboard))
}

export type LeaderboardFlags = { limit?: number; cursor?: string }

/** `agentgym leaderboard`: the verified agents of a scenario version, ranked by held-out return. */
export async function leaderboard(text: string, flags: LeaderboardFlags, context: CommandContext): Promise<void> {
  const connection = await findConnection(context)
  const target = requirePackageTarget(text)
  const { version } = await resolvePackage(connection, target)
  const board = await readLeaderboard(connection, { name: target.name, version }, flags)
  context.printJson(board)
  if (context.json) return
  const { paint, symbols } = context.terminal
  const label = `${board.scenario.name}@${board.scenario.version}`
  context.print(`${paint.bold(safeText(label, 240))} ${symbols.dot} verified agents, ranked by held-out return`)
  if (board.entries.length === 0) {
    context.print('No verified agents for this version yet.')
    const train = `agentgym train ${shellQuote(label)} --remote --publish NAME`
    context.print(`${symbols.next} Publish one: ${paint.accent(train)}`)
    return
  }
  for (const line of leaderboardLines(board, context.terminal)) context.print(line)
  context.print(nextLine(board, label, context))
}

function nextLine({ entries, next }: Leaderboard, label: string, { terminal }: CommandContext): string {
  const { paint, symbols } = terminal
  if (next !== null) {
    const more = `agentgym leaderboard ${shellQuote(label)} --cursor ${shellQuote(next)}`
    return `${symbols.next} More: ${paint.accent(more)}`
  }
  const { name, version } = entries[0].agent
  return `${symbols.next} Verify the first: ${paint.accent(`agentgym agent verify ${shellQuote(`${name}@${version}`)}`)}`
}
