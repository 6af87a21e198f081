import { markdownText } from '../agent-tools/identifiers.ts'
import type { ScenarioNames } from '../agent-tools/write-scenario.ts'
import type { ReadCounts } from './assemble-episodes.ts'
import type { MaskReport } from './personal-data.ts'
import type { LogSummary } from './summarize-log.ts'

export type TraceReport = {
  counts: ReadCounts
  episodes: number
  /** Episodes with several messages of the user. */
  followUps: number
  withoutCalls: number
  estimatedTokens: number
  outcome: string | null
  /** All outcomes that the log has: by name, in how many episodes. */
  outcomes: Record<string, number>
  masked: MaskReport
}

/** The written files of a scenario from traces; the others come from the template as they are. */
export function traceScenarioFiles(
  summary: LogSummary,
  report: TraceReport,
  names: ScenarioNames,
): Record<string, string> {
  return {
    'package.json': manifestFile(summary, names),
    'README.md': readmeFile(summary, report, names),
    'src/log.json': `${JSON.stringify(summary, null, 1)}\n`,
  }
}

/** What an agent has to reach: as many requests as the logged one, at no more cost. */
export function successCriteria({ logged, requests, tools, answer }: LogSummary): Record<string, number> {
  const solved = Math.max(0.5, Math.min(0.95, logged.solved ?? 0.9))
  const costs = new Map(tools.map(({ name, tokens, failures }) => [name, tokens * (1 + failures)]))
  const heldOut = requests.filter(({ heldOut }) => heldOut)
  const spent = heldOut.map(({ needs }) => needs.reduce((all, { tool }) => all + (costs.get(tool) ?? 0), answer.tokens))
  const least = spent.reduce((all, tokens) => all + tokens, 0) / heldOut.length
  // Where the shortest way is no cheaper than the log, saving is not asked for.
  const cheaper = logged.tokens > 0 && least < 0.9 * logged.tokens
  return { solved: Math.floor(solved * 100) / 100, ...(cheaper ? { cost_reduction: 0 } : {}) }
}

function manifestFile(summary: LogSummary, { name, title }: ScenarioNames): string {
  const { tools } = summary
  const manifest = {
    ...{ name, version: '0.1.0', license: 'UNLICENSED', private: true, type: 'module' },
    files: ['src', '!src/**/*.test.ts', 'README.md'],
    scripts: { test: 'vitest run' },
    devDependencies: { '@agentgym/scenario': 'file:vendor/scenario', typescript: '7.0.2', vitest: '5.1.2' },
    agentgym: {
      kind: 'scenario',
      entry: 'src/index.ts',
      title,
      summary: '[REPLACE: what the agent handles, in one sentence]',
      category: 'tool-use',
      difficulty: 'intermediate',
      view: { kind: 'transcript', facts: tools.slice(0, 64).map((tool) => tool.name.slice(0, 40)) },
      success: successCriteria(summary),
      training: {
        ...{ algorithm: 'ppo', steps: 300_000, environments: 64, rollout_steps: 32, minibatch_size: 256, epochs: 4 },
        ...{ learning_rate: 0.003, gamma: 1, gae_lambda: 0.9, entropy_coefficient: 0.01, hidden: [64, 64] },
      },
    },
  }
  return `${JSON.stringify(manifest, null, 2)}\n`
}

function readmeFile(summary: LogSummary, report: TraceReport, { title, unscoped }: ScenarioNames): string {
  const { tools, requests, logged } = summary
  const percent = (share: number) => `${(100 * share).toFixed(1)}%`
  const all = tools.reduce((total, { calls }) => total + calls, 0)
  const rows = tools
    .toSorted((a, b) => b.calls - a.calls)
    .map(({ name, calls, failures, tokens, seconds, choices }) => {
      const chosen = Object.entries(choices).map(
        ([field, values]) => `${markdownText(field)} (${values.length} values)`,
      )
      return `| ${markdownText(name)} | ${percent(calls / all)} | ${percent(failures)} | ${tokens} | ${seconds} | ${chosen.join(', ')} |`
    })
  const masked = Object.entries(report.masked).filter(([, count]) => count > 0)
  const heldOut = requests.filter(({ heldOut }) => heldOut).length
  return `# ${markdownText(title, 80)}

[REPLACE: say what the agent learns here, and what makes it hard. The rest of this page describes the scenario as written]

Requests that an agent was logged with, and the tools that it called. An episode is one request; the agent calls tools until it answers.

\`\`\`sh
agentgym scenario test .
agentgym scenario check .
agentgym train .
agentgym eval agents/${unscoped}
\`\`\`

## The logged agent, which is to be beaten

| Episodes | Solved | Calls | Tokens | Seconds |
|---|---|---|---|---|
| ${logged.episodes} | ${logged.solved === null ? 'not logged' : percent(logged.solved)} | ${logged.calls} | ${logged.tokens} | ${logged.seconds} |

Means an episode. ${report.estimatedTokens > 0 ? `Tokens of ${report.estimatedTokens} episodes are estimated from the length of their texts: the log has none. ` : ''}\`cost_reduction\` and \`time_savings\` of a trained agent are against these.

## Tools

| Tool | Of all calls | Failed | Tokens | Seconds | The agent chooses |
|---|---|---|---|---|---|
${rows.join('\n')}

Arguments with more than 16 values, and texts, are not chosen by the policy: a language model writes them.

## What a request takes

${
  report.outcome === null
    ? 'The log has no outcomes, so every logged episode counts as right: an agent can learn to do the same with fewer calls, and not to do it better.'
    : `The outcome \`${markdownText(report.outcome)}\` decides which episodes were solved; only their requests are used.`
}
Of the episodes with the same wording the cheapest counts. Calls that failed or repeated another are not needed; the others are, in the logged order. ${requests.length - heldOut} requests are
for training and ${heldOut} are held out; no wording is in both.

## Masked

${masked.length === 0 ? 'Nothing was found to mask.' : masked.map(([kind, count]) => `- \`${kind}\`: ${count}`).join('\n')}

Rules found these. They do not find names in running text, personal details that someone describes, or secrets of an unknown form: read
\`src/log.json\` before you publish or share the scenario.
`
}
