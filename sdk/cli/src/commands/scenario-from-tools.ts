import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { AgentGymError } from '@agentgym/contract'
import type { Command } from 'commander'
import { obtainDeclaredTools, obtainMcpTools } from '../agent-tools/obtain-tools.ts'
import { type PlannedTool, planTools, type ToolPlan } from '../agent-tools/plan-tools.ts'
import type { ToolDeclaration } from '../agent-tools/tool-forms.ts'
import { scenarioFiles } from '../agent-tools/write-scenario.ts'
import type { CommandContext, MakeAction } from '../command-context.ts'
import {
  library,
  type NewFolderFlags,
  nameFolder,
  nameFromFolder,
  refuseConflicts,
  writeLibrary,
  writeScenarioFiles,
} from '../packages/scenario-folder.ts'
import { unscopedName } from '../targets/scenarios.ts'
import { formatCount } from '../terminal/format-values.ts'
import { safeText, shellQuote } from '../terminal/text.ts'

export function addScenarioFromTools(scenario: Command, action: MakeAction): void {
  scenario
    .command('from-tools')
    .argument('[SOURCE]', 'JSON file, or its address, with the tools of a LangChain, AI SDK, OpenAI or MCP agent')
    .description("create a scenario from an agent's tools")
    .option('--mcp <SERVER>', 'instead of SOURCE: command that starts an MCP server, or its address')
    .option('--out <DIR>', 'folder to create; existing files are never overwritten (default: from the name of SOURCE)')
    .option('--name <NAME>', 'npm package name (default: the name of the folder)')
    .option('--title <TITLE>', 'display title (default: derived from the name)')
    .action(action(scenarioFromTools))
}

/** `agentgym scenario from-tools`: a tool scenario that checks and trains as written, with places to fill in. */
async function scenarioFromTools(
  source: string | undefined,
  flags: NewFolderFlags & { mcp?: string },
  context: CommandContext,
): Promise<void> {
  const { tools, origin } = await obtainTools(source, flags.mcp, context)
  const plan = planTools(tools)
  const { folder, name, title } = nameFolder(`${origin || 'agent'}-scenario`, flags, context)
  const files = scenarioFiles(plan, { name, title, unscoped: unscopedName(name) })
  const fromTemplate = ['tsconfig.json', '.gitignore', 'src/records.ts', 'src/work.ts', 'src/index.test.ts']
  await refuseConflicts(folder, [...Object.keys(files), ...fromTemplate], context)
  const written = await writeScenarioFiles(folder, files, { template, files: fromTemplate })
  await writeLibrary(folder, context)
  report({ plan, folder, name, files: [...written, library] }, context)
}

const template = fileURLToPath(new URL('../../templates/from-tools', import.meta.url))

async function obtainTools(
  source: string | undefined,
  mcp: string | undefined,
  context: CommandContext,
): Promise<{ tools: ToolDeclaration[]; origin: string }> {
  if ((source === undefined) === (mcp === undefined)) {
    throw new AgentGymError({
      code: 'usage_invalid',
      message: source === undefined ? 'The tools are missing' : 'SOURCE and --mcp cannot be combined',
      hint: 'Give a JSON file (agentgym scenario from-tools tools.json) or a server (agentgym scenario from-tools --mcp "npx some-server").',
    })
  }
  if (mcp !== undefined) {
    context.print(`${context.terminal.symbols.next} Reading the tools of ${safeText(mcp)}`)
    const { tools, server } = await obtainMcpTools(mcp)
    return { tools, origin: nameFromFolder(server) }
  }
  const given = source ?? ''
  return {
    tools: await obtainDeclaredTools(given, context),
    origin: nameFromFolder(basename(given).replace(/\.\w+$/, '')),
  }
}

type Written = { plan: ToolPlan; folder: string; name: string; files: string[] }

function report({ plan, folder, name, files }: Written, context: CommandContext): void {
  context.printJson({
    name,
    folder,
    files,
    tools: plan.tools.map(({ name, declared, parameters, written, changed }) => ({
      name,
      declared,
      chosen: parameters.map(({ field, kind }) => ({ field, kind })),
      not_chosen: written,
      changed,
    })),
  })
  const { paint, symbols } = context.terminal
  const path = context.displayPath(folder)
  const count = `${formatCount(plan.tools.length)} ${plan.tools.length === 1 ? 'tool' : 'tools'}`
  context.print(`${paint.accent(symbols.ok)} Created ${paint.bold(safeText(name))} from ${count} in ${safeText(path)}`)
  for (const tool of plan.tools) for (const line of toolLines(tool)) context.print(`  ${line}`)
  context.print(`${symbols.next} Check it: ${paint.accent(`agentgym scenario check ${shellQuote(path)}`)}`)
  context.print(`${symbols.next} Train it: ${paint.accent(`agentgym train ${shellQuote(path)}`)}`)
  context.print(
    `${symbols.next} Replace requests and back ends by your own: search for REPLACE in ${safeText(path)}/src`,
  )

  function toolLines({ name, declared, parameters, written, changed }: PlannedTool): string[] {
    const chosen = parameters.map(({ field, kind }) => `${field} (${kind === 'pointer' ? 'id' : kind})`)
    const renamed = declared === name ? '' : `, declared as ${JSON.stringify(declared)}`
    return [
      `${paint.bold(safeText(name))}${safeText(renamed)}${chosen.length > 0 ? `: ${safeText(chosen.join(', '), 500)}` : ''}`,
      ...written.map(({ field, why }) =>
        paint.dim(`  ${safeText(`${field}: not chosen by the policy (${why})`, 200)}`),
      ),
      ...changed.map(({ field, why }) => paint.dim(`  ${safeText(`${field}: ${why}`, 200)}`)),
    ]
  }
}
