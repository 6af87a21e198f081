import { agentGymHome } from '../account/agentgym-home.ts'
import type { CommandContext } from '../command-context.ts'
import { resolveAgentFolder } from '../targets/resolve-agent.ts'
import { formatCount } from '../terminal/format-figures.ts'
import { safeText } from '../terminal/safe-text.ts'
import { shellQuote } from '../terminal/shell-quote.ts'
import { evaluationLines } from '../training-view/evaluation-lines.ts'
import { playAgent } from '../verification/play-agent.ts'

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
