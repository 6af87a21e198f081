import {
  type AgentManifest,
  comparedPlayers,
  comparisonNote,
  decisionTimeText,
  escapeMarkdown,
  returnText,
  smallPriceText,
  solvedText,
} from '@agentgym/contract'

const begin = '<!-- compared -->'
const end = '<!-- end of compared -->'

/** What other players reach beside the agent, for its model card; nothing for an evaluation without baselines. */
export function comparedSection({
  evaluation,
  comparison,
}: Pick<AgentManifest, 'evaluation' | 'comparison'>): string[] {
  const players = comparedPlayers(evaluation, comparison)
  if (players.length === 0) return []
  const measured = comparison === undefined ? [] : ['decision time', 'cost per million']
  const titles = [comparison === undefined ? 'on the same episodes' : 'player', 'solved', 'return_mean', 'all targets']
  const rows = players.map((player) => [
    escapeMarkdown(player.name),
    solvedText(player),
    returnText(player, formatNumber),
    player.success === null ? '' : player.success ? 'yes' : 'no',
    ...(comparison === undefined ? [] : decisionCells(player.decision)),
  ])
  return [
    begin,
    row([...titles, ...measured]),
    row(['---', '---:', '---:', '---', ...measured.map(() => '---:')]),
    ...rows.map(row),
    ...(comparison === undefined
      ? []
      : ['', escapeMarkdown(`${comparisonNote(comparison)} Measured by the publisher, not verified.`)]),
    end,
  ]
}

/** A model card with this section in place of its own; one without is given it before `## Use`, else at its end. */
export function withComparedSection(card: string, manifest: Pick<AgentManifest, 'evaluation' | 'comparison'>): string {
  const section = comparedSection(manifest).join('\n')
  const [from, to] = [card.indexOf(begin), card.indexOf(end)]
  if (from >= 0 && to > from) return card.slice(0, from) + section + card.slice(to + end.length)
  const use = card.indexOf('\n## Use\n')
  return use < 0 ? `${card.trimEnd()}\n\n${section}\n` : `${card.slice(0, use)}\n${section}\n${card.slice(use)}`
}

function decisionCells(decision: { ms: number; million: number } | null): string[] {
  return decision === null ? ['–', '–'] : [decisionTimeText(decision.ms), smallPriceText(decision.million)]
}

function row(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`
}

function formatNumber(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toPrecision(4)
}
