import { type Run, runSchema } from '@agentgym/contract'
import { findConnection } from '../account/connection.ts'
import type { CommandContext } from '../command-context.ts'
import { oneOf } from '../command-line-choices.ts'
import { shortId } from '../registry/find-by-id.ts'
import { listRuns } from '../runs/run-api.ts'
import { runStateText } from '../runs/run-state-text.ts'
import { formatAge } from '../terminal/format-age.ts'
import { formatValue } from '../terminal/format-figures.ts'
import { moreCommand } from '../terminal/more-command.ts'
import { safeText } from '../terminal/safe-text.ts'
import { renderTable } from '../terminal/table.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { costText } from '../training-view/remote-run.ts'

export type RunsListFlags = { state?: string; scenario?: string; account?: string; limit?: number; cursor?: string }

/** `agentgym runs list`: the user's runs on the server, newest first. */
export async function runsList(flags: RunsListFlags, context: CommandContext): Promise<void> {
  if (flags.state !== undefined) oneOf('state', flags.state, runSchema.shape.state.options)
  const found = await listRuns(await findConnection(context), flags)
  context.sayJson(found)
  if (context.json) return
  const { terminal, say } = context
  const { paint, symbols } = terminal
  if (found.runs.length === 0) {
    const filtered = flags.state !== undefined || flags.scenario !== undefined || flags.account !== undefined
    say(filtered ? 'No run of yours fits.' : 'Your runs on the server will be here.')
    say(`${symbols.next} Start one: ${paint.accent('agentgym train @acme/cart-pole --remote --watch')}`)
    return
  }
  for (const line of runLines(found.runs, terminal, Date.now())) say(line)
  if (found.next_cursor === null) {
    const id = shortId(found.runs[0].id)
    say(`${symbols.next} Look closer: ${paint.accent(`agentgym runs show ${id}`)}`)
    return
  }
  const more = moreCommand('agentgym runs list', flags, found.next_cursor)
  say(`${symbols.next} More: ${paint.accent(more)}`)
}

/** The table of runs; `nowMs` is what their age is told from. */
export function runLines(runs: readonly Run[], terminal: Terminal, nowMs: number): string[] {
  // Where there is no room for all, the scenario's name is worth more.
  const wide = terminal.columns() >= 110
  const columns = [
    { title: 'Run' },
    { title: 'State' },
    { title: 'Scenario', shrink: true },
    { title: 'Done', align: 'right' as const },
    { title: 'Return', align: 'right' as const },
    { title: 'Cost', align: 'right' as const },
    { title: 'Age', align: 'right' as const },
    ...(wide ? [{ title: 'Algorithm' }, { title: 'Note', shrink: true }] : []),
  ]
  const rows = runs.map((run) => [
    shortId(run.id),
    runStateText(run, terminal),
    safeText(`${run.scenario.name}@${run.scenario.version}`, 240),
    doneText(run),
    formatValue(run.evaluation?.return_mean ?? run.progress?.return_mean),
    costText(run) ?? '-',
    formatAge(run.created_at, nowMs),
    ...(wide ? [safeText(run.algorithm, 20), safeText(run.note ?? '', 200)] : []),
  ])
  return renderTable(columns, rows, terminal, (text, _, column) => (column === 0 ? terminal.paint.bold(text) : text))
}

function doneText({ progress, state }: Run): string {
  if (state === 'completed') return '100%'
  return progress === null ? '-' : `${Math.floor((progress.steps / Math.max(progress.steps_total, 1)) * 100)}%`
}
