import type { Baseline, Evaluation } from './agent-manifest.ts'
import { chanceText } from './calibration.ts'
import type { Comparison } from './comparison.ts'

type MeasuredPlayer = Comparison['players'][number]
type Player = MeasuredPlayer['player']

/** A row of the table that shows an agent beside others. */
export type ComparedPlayer = {
  name: string
  /** Share of episodes; null where the scenario does not report it. */
  solved: number | null
  return_mean: number | null
  /** Whether it meets every success criterion; null without criteria. */
  success: boolean | null
  /** Present for a row that its publisher measured: 95% intervals of the share and of the return. */
  measured?: { solved: [number, number] | null; return_mean: [number, number] }
  /** A decision's median time, and what a million of them cost in US dollars; null where it was not measured. */
  decision: { ms: number; million: number } | null
}

const names = {
  agent: 'This agent',
  random: 'Random choices',
  rules: 'Keyword rules of the scenario',
}

/** An agent and the players that it is compared with, as a table shows them: the agent first. Empty where there are none. */
export function comparedPlayers(
  { baselines = [], ...agent }: Omit<Evaluation, 'seed'>,
  comparison?: Comparison,
): ComparedPlayer[] {
  const rows = new Map<Player, ComparedPlayer>([['agent', evaluatedRow('agent', agent, agent.success.ok)]])
  for (const baseline of baselines) {
    rows.set(baseline.player, evaluatedRow(baseline.player, baseline, baseline.success))
  }
  if (comparison !== undefined) {
    for (const player of comparison.players) {
      const row = rows.get(player.player) ?? measuredRow(player, comparison)
      rows.set(player.player, { ...row, decision: decisionOf(player, comparison) })
    }
  }
  return rows.size === 1 ? [] : [...rows.values()]
}

function evaluatedRow(
  player: Baseline['player'] | 'agent',
  { metrics, return_mean }: Pick<Evaluation, 'metrics' | 'return_mean'>,
  success: boolean | null,
): ComparedPlayer {
  const solved = Object.hasOwn(metrics, 'solved') ? metrics.solved : null
  return { name: names[player], solved, return_mean, success, decision: null }
}

function measuredRow(measured: MeasuredPlayer, { language_model }: Comparison): ComparedPlayer {
  const { player, solved, return_mean, return_interval, success } = measured
  return {
    name: player === 'language_model' ? `${language_model.name}, zero-shot` : names[player],
    ...{ solved: solved?.share ?? null, return_mean, success, decision: null },
    measured: { solved: solved?.interval ?? null, return_mean: return_interval },
  }
}

function decisionOf({ decision_ms }: MeasuredPlayer, { core_price }: Comparison): ComparedPlayer['decision'] {
  return { ms: decision_ms, million: (1e6 * decision_ms * core_price) / 3_600_000 }
}

/** `12% (5% to 24%)`; a dash where it is not known. */
export function solvedText({ solved, measured }: ComparedPlayer): string {
  if (solved === null) return '–'
  const interval = measured?.solved ?? null
  return interval === null ? chanceText(solved) : `${chanceText(solved)} (${interval.map(chanceText).join(' to ')})`
}

/** `3.2 (2.9 to 3.5)`, with numbers as the caller writes them; a dash where it is not known. */
export function returnText({ return_mean, measured }: ComparedPlayer, format: (value: number) => string): string {
  if (return_mean === null) return '–'
  return measured === undefined
    ? format(return_mean)
    : `${format(return_mean)} (${measured.return_mean.map(format).join(' to ')})`
}

/** `21 µs`, `812 ms`, `1.3 s`. */
export function decisionTimeText(ms: number): string {
  if (ms < 1) return `${Number((1_000 * ms).toPrecision(2))} µs`
  return ms < 1_000 ? `${Number(ms.toPrecision(ms < 100 ? 2 : 3))} ms` : `${(ms / 1_000).toFixed(1)} s`
}

/** US dollars with two significant digits: `$0.0006`, `$22`. */
export function smallPriceText(dollars: number): string {
  if (dollars === 0) return '$0'
  const digits = Math.max(0, 1 - Math.floor(Math.log10(dollars)))
  return `$${dollars.toFixed(digits)}`
}

/** What the table's figures are, in sentences for below it. Where it is published, add who measured them. */
export function comparisonNote({ episodes, seed, processor, core_price, language_model }: Comparison): string {
  return `The language model (${language_model.engine}) chose among the legal actions on ${episodes} held-out episodes of seed ${seed}; 95% intervals. Times are medians on one core (${processor}), which costs $${core_price} an hour.`
}
