import { versionPath } from '@agentgym/client'
import {
  type Leaderboard,
  leaderboardSchema,
  type Season,
  type SigningKeys,
  seasonListSchema,
  signingKeysSchema,
  type Verification,
  type VerificationStatement,
  verificationStatementSchema,
} from '@agentgym/contract'
import type { Connection } from '../account/connection.ts'
import { callApi } from '../registry/call-api.ts'
import { formatCount, formatValue } from '../terminal/format-values.ts'
import { renderTable } from '../terminal/table.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { safeText, wrapText } from '../terminal/text.ts'

export function readSigningKeys(connection: Connection): Promise<SigningKeys> {
  return callApi(connection, { path: '/v1/keys', answer: signingKeysSchema })
}

/** A season of held-out episodes; undefined if the server does not know it. */
export async function readSeason(connection: Connection, id: string): Promise<Season | undefined> {
  const query = { before: String(Number(id) + 1), limit: 1 }
  const { seasons } = await callApi(connection, { path: '/v1/seasons', query, answer: seasonListSchema })
  return seasons.find((season) => season.id === id)
}

/** The verified agents of a scenario version, best first. */
export function readLeaderboard(
  connection: Connection,
  { name, version }: { name: string; version: string },
  page: { limit?: number; cursor?: string } = {},
): Promise<Leaderboard> {
  return callApi(connection, {
    path: `${versionPath(name, version)}/leaderboard`,
    query: page,
    answer: leaderboardSchema,
  })
}

/** The verification of an agent: who evaluated it, on what, and the result; or why it is not verified. */
export function verificationLines(verification: Verification, terminal: Terminal): string[] {
  const { paint, symbols } = terminal
  const width = Math.min(terminal.columns(), 100) - 3
  const statusLines = (mark: string, text: string) =>
    wrapText(safeText(text, 1_000), width).map((line, index) => (index === 0 ? `${mark} ${line}` : `  ${line}`))
  const why = verification.message === null ? '' : `: ${verification.message}`
  switch (verification.state) {
    case 'verified':
      return sealLines(verification, terminal)
    case 'pending':
      return statusLines(symbols.dot, 'Verification in progress')
    case 'unavailable':
    case 'inconclusive':
      return statusLines(paint.warn(symbols.warning), `Not verified${why}`)
    case 'mismatch':
    case 'failed':
      return statusLines(paint.fail(symbols.failed), `Not verified${why}`)
  }
}

function sealLines({ signed }: Verification, { paint, symbols }: Terminal): string[] {
  const statement = signed === null ? undefined : parseStatement(signed.statement)
  if (signed === null || statement === undefined) return [`${paint.accent(symbols.ok)} Verified`]
  const seal = paint.accent(`${symbols.ok} Verified ${signed.signature.slice(0, 8)}`)
  const { held_out: heldOut, server, scenario } = statement
  const by = statement.type === 'agentgym-verification-1' ? 1 : statement.workers.length
  const workers = by > 1 ? `, ${by} workers agreed` : ''
  return [
    `${seal} ${paint.dim(`by ${safeText(server, 100)} on ${statement.verified_at.slice(0, 10)}`)}`,
    `  return ${paint.bold(formatValue(heldOut.return_mean))} on ${formatCount(heldOut.episodes)} held-out episodes of ${safeText(`${scenario.name}@${scenario.version}`, 240)}${workers}`,
    ...taskSetLines(statement),
  ]
}

/** A warning where the episodes come from few tasks that anyone can play in advance. */
function taskSetLines(statement: VerificationStatement): string[] {
  if (statement.type === 'agentgym-verification-1' || !statement.task_set?.fixed) return []
  return [`  tasks: fixed set of ${formatCount(statement.task_set.size)}, public`]
}

/** The signed statement; undefined if it cannot be parsed. */
function parseStatement(text: string): VerificationStatement | undefined {
  try {
    return verificationStatementSchema.safeParse(JSON.parse(text)).data
  } catch {
    return undefined
  }
}

/** The leaderboard as a table. */
export function leaderboardLines({ entries }: Leaderboard, terminal: Terminal): string[] {
  const { paint, symbols } = terminal
  // On narrow terminals the name of the agent matters more.
  const wide = terminal.columns() >= 100
  const columns = [
    { title: '#', align: 'right' as const },
    { title: 'Agent', shrink: true },
    { title: 'Return', align: 'right' as const },
    ...(wide ? [{ title: '95%' }] : []),
    { title: 'Targets' },
    { title: 'Steps', align: 'right' as const },
    { title: 'Verified' },
    ...(wide ? [{ title: 'Attempts', align: 'right' as const }, { title: 'Algorithm' }] : []),
  ]
  const reached = (success: boolean | null) =>
    success === null ? '-' : success ? `${symbols.ok} reached` : `${symbols.failed} missed`
  const rows = entries.map((entry) => [
    String(entry.rank),
    safeText(`${entry.agent.name}@${entry.agent.version}`, 240),
    formatValue(entry.return_mean),
    ...(wide ? [intervalText(entry.confidence)] : []),
    reached(entry.success),
    formatCount(entry.steps),
    entry.verified_at.slice(0, 10),
    ...(wide ? [attemptsText(entry.attempts), safeText(entry.agent.algorithm, 20)] : []),
  ])
  return renderTable(columns, rows, terminal, (text, _, column) => (column === 1 ? paint.bold(text) : text))
}

/** `0.91 to 0.97`; a dash if it is unknown. */
function intervalText(confidence: Leaderboard['entries'][number]['confidence']): string {
  return confidence == null ? '-' : `${formatValue(confidence.low)} to ${formatValue(confidence.high)}`
}

/** Versions with which the publisher has tried; a dash from an older server. */
function attemptsText(attempts: number | undefined): string {
  return attempts === undefined ? '-' : formatCount(attempts)
}
