import { installedPackages, type LockedFolder } from '@agentgym/agent/packages'
import { AgentGymError, type AgentManifest, type SuccessCriteria } from '@agentgym/contract'
import type { Command } from 'commander'
import type { CommandContext, MakeAction, Runtime } from '../command-context.ts'
import { agentsFolder, findAgents } from '../targets/agents.ts'
import { builtInScenarios, unscopedName } from '../targets/scenarios.ts'
import { formatCount, formatTarget, formatValue } from '../terminal/format-values.ts'
import { renderTable } from '../terminal/table.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { fitText, safeText } from '../terminal/text.ts'

export function addListCommand(program: Command, action: MakeAction): void {
  program
    .command('list')
    .description('list built-in scenarios, installed packages and local agents')
    .action(action(list))
}

type FoundAgent =
  | { name: string; folder: string; manifest: AgentManifest }
  | { name: string; folder: string; error: { code: string; message: string } }

/** `agentgym list`: built-in scenarios, the packages of agentgym.lock and the agents in ./agents. A broken agent is a row, not an error. */
export async function list(context: CommandContext): Promise<void> {
  const scenarios = await builtInScenarios()
  const folders = await findAgents(context.resolve(agentsFolder))
  const runtime = folders.length > 0 ? await context.runtime() : undefined
  const agents: FoundAgent[] = []
  if (runtime) for (const { name, folder } of folders) agents.push(await readFound(name, folder, runtime))

  const installed = await installedPackages(context.io)

  context.printJson({
    scenarios: scenarios.map(({ folder, package: { name, version, agentgym } }) => {
      const { title, summary, category, difficulty, success } = agentgym
      return { name, version, title, summary, category, difficulty, success, folder }
    }),
    agents: agents.map(agentJson),
    installed,
  })
  if (context.json) return
  for (const line of scenarioLines(scenarios, context.terminal)) context.print(line)
  context.print('')
  if (installed.length > 0) {
    for (const line of installedLines(installed, context.terminal)) context.print(line)
    context.print('')
  }
  for (const line of agentLines(agents, context.terminal)) context.print(line)
}

async function readFound(name: string, folder: string, runtime: Runtime): Promise<FoundAgent> {
  try {
    return { name, folder, manifest: await runtime.readAgent(folder) }
  } catch (error) {
    if (!(error instanceof AgentGymError)) throw error
    return { name, folder, error: { code: error.code, message: error.message } }
  }
}

function agentJson(agent: FoundAgent): unknown {
  if ('error' in agent) return agent
  const { scenario, algorithm, seed, steps, evaluation } = agent.manifest
  return {
    name: agent.name,
    folder: agent.folder,
    scenario: `${scenario.name}@${scenario.version}`,
    algorithm,
    seed,
    steps,
    evaluation,
  }
}

function scenarioLines(scenarios: Awaited<ReturnType<typeof builtInScenarios>>, terminal: Terminal): string[] {
  if (scenarios.length === 0) return ['No built-in scenarios found.']
  const columns = [
    { title: 'Scenario' },
    { title: 'Version' },
    { title: 'Difficulty' },
    { title: 'Success', shrink: true },
  ]
  const rows = scenarios.map(({ package: { name, version, agentgym } }) => [
    safeText(unscopedName(name), 60),
    safeText(version, 30),
    agentgym.difficulty,
    successText(agentgym.success),
  ])
  const easiest = scenarios.findIndex((scenario) => scenario.package.agentgym.difficulty === 'beginner')
  const [head, ...lines] = renderTable(columns, rows, terminal, (text, _, column) =>
    column === 0 ? terminal.paint.bold(text) : text,
  )
  return [
    head,
    ...lines.flatMap((line, row) => [line, summaryLine(scenarios[row].package.agentgym.summary, terminal)]),
    `${terminal.symbols.next} Train an agent: ${terminal.paint.accent(`agentgym train ${rows[Math.max(0, easiest)][0]}`)}`,
  ]
}

// On its own line, so that it is readable on 80 columns.
function summaryLine(summary: string, terminal: Terminal): string {
  return `  ${terminal.paint.dim(fitText(safeText(summary, 280), terminal.columns() - 3, terminal.symbols.ellipsis))}`
}

function installedLines(installed: LockedFolder[], terminal: Terminal): string[] {
  const columns = [
    { title: 'Installed' },
    { title: 'Version' },
    { title: 'Range' },
    { title: 'Integrity', shrink: true },
  ]
  const rows = installed.map(({ name, version, range, folder, integrity }) => [
    safeText(name, 214),
    safeText(version, 64),
    safeText(range, 60),
    folder === null ? 'not downloaded; run agentgym install' : safeText(integrity, 100),
  ])
  return renderTable(columns, rows, terminal, (text, _, column) => (column === 0 ? terminal.paint.bold(text) : text))
}

function agentLines(agents: FoundAgent[], terminal: Terminal): string[] {
  const { paint, symbols } = terminal
  if (agents.length === 0) return [`${paint.dim('No agents in ./agents yet. Train one with agentgym train.')}`]
  const columns = [
    { title: 'Agent' },
    { title: 'Success' },
    { title: 'Return', align: 'right' as const },
    { title: 'Steps', align: 'right' as const },
    { title: 'Scenario', shrink: true },
  ]
  const rows = agents.map((agent) => {
    const name = safeText(`${agentsFolder}/${agent.name}`, 80)
    if ('error' in agent) return [name, `${symbols.failed} broken`, '-', '-', agent.error.code]
    const { evaluation, steps, scenario } = agent.manifest
    const verdict =
      { true: `${symbols.ok} reached`, false: `${symbols.failed} missed`, null: '-' }[String(evaluation.success.ok)] ??
      '-'
    return [
      name,
      verdict,
      formatValue(evaluation.return_mean),
      formatCount(steps),
      safeText(`${scenario.name}@${scenario.version}`, 240),
    ]
  })
  return renderTable(columns, rows, terminal, (text, _, column) => (column === 0 ? paint.bold(text) : text))
}

/** `return_mean >= 475, solved >= 0.95`. */
export function successText(success: SuccessCriteria): string {
  const criteria = Object.entries(success).map(
    ([metric, target]) => `${safeText(metric, 60)} >= ${formatTarget(target)}`,
  )
  return criteria.length > 0 ? criteria.join(', ') : '-'
}
