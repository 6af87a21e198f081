import type { Command } from 'commander'
import { agentGymHome } from '../account/connection.ts'
import type { CommandContext, MakeAction } from '../command-context.ts'
import { countRange, scenarioOptionText, seedRange, seedText, wholeNumber } from '../option-values.ts'
import { resolveAgentFolder } from '../targets/agents.ts'
import { formatCount } from '../terminal/format-values.ts'
import { safeText, shellQuote } from '../terminal/text.ts'
import { evaluationLines } from '../training-view/summary-lines.ts'
import { playAgent } from '../verification/play-agent.ts'

export function addEvalCommand(program: Command, action: MakeAction): void {
  program
    .command('eval')
    .argument('<AGENT>', 'agent folder, name in ./agents, or an installed @scope/name')
    .description('evaluate an agent on held-out episodes')
    .option('--episodes <N>', 'number of held-out episodes (default: 100)', wholeNumber('episodes', countRange))
    .option('--seed <S>', `${seedText} (default: 0)`, wholeNumber('seed', seedRange))
    .option('--scenario <DIR>', scenarioOptionText)
    .action(action(evaluate))
}

export type EvalFlags = { episodes?: number; seed?: number; scenario?: string }

/** `agentgym eval`: plays an agent on held-out episodes in the sandbox and holds it against the success criteria. */
export async function evaluate(target: string, flags: EvalFlags, context: CommandContext): Promise<void> {
  const folder = await resolveAgentFolder(target, context)
  const { readAgent } = await context.runtime()
  const manifest = await readAgent(folder)
  const { terminal } = context
  // Where an installed one lies says nothing to anybody.
  const shown = folder.startsWith(agentGymHome(context.io)) ? target : context.displayPath(folder)
  const played = safeText(`${manifest.scenario.name}@${manifest.scenario.version}`, 240)
  const episodes =
    flags.episodes === undefined ? 'held-out episodes' : `${formatCount(flags.episodes)} held-out episodes`
  context.say(`${terminal.symbols.next} Evaluate ${safeText(shown)} on ${terminal.paint.bold(played)}, ${episodes}`)

  const evaluation = await playAgent(folder, manifest, flags, context)
  context.sayJson(evaluation)
  for (const line of evaluationLines(evaluation, terminal)) context.say(line)
  const again = `agentgym info ${shellQuote(shown)}`
  context.say(`${terminal.symbols.next} How it was trained: ${terminal.paint.accent(again)}`)
}
