import { loadAgent } from '@agentgym/agent'
import type { PolicyEstimate } from '@agentgym/runtime'
import type { CommandContext } from '../command-context.ts'
import { resolveAgentFolder } from '../targets/agents.ts'
import { requireFile } from '../targets/files.ts'
import { formatCount } from '../terminal/format-values.ts'
import { renderTable } from '../terminal/table.ts'
import { safeText, shellQuote } from '../terminal/text.ts'
import { readTrajectories } from '../traces/decisions.ts'
import { jsonValuesOf } from '../traces/json-values.ts'

export type OnTracesFlags = { onTraces?: string[]; outcome?: string; sampled?: boolean; seed?: number }

/** `agentgym eval --on-traces`: what an agent would reach on the decisions of a log, without playing. */
export async function evaluateOnTraces(target: string, flags: OnTracesFlags, context: CommandContext): Promise<void> {
  const { onTraces: files = [], outcome, sampled = false, seed } = flags
  const folder = await resolveAgentFolder(target, context)
  const paths = await Promise.all(files.map((file) => requireFile(file, context)))
  const { symbols } = context.terminal
  context.print(`${symbols.next} Estimating ${safeText(target)} on ${safeText(files.join(', '), 300)}`)
  const agent = await loadAgent(folder)
  try {
    const { estimatePolicy } = await context.runtime()
    const values = jsonValuesOf(paths)
    const trajectories = await readTrajectories(values, agent, { outcome, sampled })
    const estimate = estimatePolicy(trajectories, agent.labels ?? [], { seed })
    const { name, version } = agent.manifest.scenario
    context.printJson({ scenario: { name, version }, policy: sampled ? 'sampled' : 'greedy', ...estimate })
    for (const line of estimateLines(estimate, context)) context.print(line)
    const played = `agentgym eval ${shellQuote(target)}`
    context.print(
      `${symbols.next} An estimate is no evaluation. Play held-out episodes: ${context.terminal.paint.accent(played)}`,
    )
  } finally {
    agent.dispose()
  }
}

function estimateLines(estimate: PolicyEstimate, { terminal }: CommandContext): string[] {
  const percent = `${Math.round(100 * estimate.confidence)}%`
  const rows = [
    ['logged policy', estimate.logged],
    ['agent, doubly robust', estimate.doubly_robust],
    ['agent, weighted importance sampling', estimate.weighted_importance_sampling],
    ['agent less logged policy', estimate.improvement],
  ] as const
  const table = renderTable(
    [
      { title: 'Mean return', shrink: true },
      { title: 'estimate', align: 'right' },
      { title: `${percent} interval`, align: 'right' },
    ],
    rows.map(([label, { mean, low, high }]) => [label, short(mean), `${short(low)} to ${short(high)}`]),
    terminal,
  )
  const { improvement } = estimate
  const verdict =
    improvement.low > 0
      ? 'The agent is better than the logged policy.'
      : improvement.high < 0
        ? 'The agent is worse than the logged policy.'
        : 'The log does not show whether the agent is better than the logged policy.'
  return [
    ...table,
    terminal.paint.dim(
      `${formatCount(estimate.episodes)} episodes, effective sample size ${formatCount(Math.round(estimate.effective_sample_size))}; same choice as the log in ${Math.round(100 * estimate.agreement)}% of ${formatCount(estimate.decisions)} decisions`,
    ),
    verdict,
  ]
}

function short(value: number): string {
  return String(Number(value.toPrecision(3)))
}
