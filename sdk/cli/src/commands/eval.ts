import { AgentGymError, type ScenarioLogs, type TaskOrder, taskOrderSchema } from '@agentgym/contract'
import { type Command, Option } from 'commander'
import { agentGymHome } from '../account/connection.ts'
import type { CommandContext, MakeAction } from '../command-context.ts'
import { countRange, evaluationSeedRange, scenarioOptionText, wholeNumber } from '../option-values.ts'
import { resolveAgentFolder } from '../targets/agents.ts'
import { addEnvironmentOptions, type EnvironmentFlags } from '../targets/environments.ts'
import { formatCount } from '../terminal/format-values.ts'
import { logLines } from '../terminal/log-lines.ts'
import { safeText, shellQuote } from '../terminal/text.ts'
import { evaluationLines } from '../training-view/summary-lines.ts'
import {
  type ComparisonFlags,
  checkComparison,
  compareWithLanguageModel,
  corePrice,
  defaultCorePrice,
  savedLine,
} from '../verification/compare-agent.ts'
import { playAgent } from '../verification/play-agent.ts'
import { evaluateOnTraces, type OnTracesFlags } from './eval-on-traces.ts'
import { type RenderFlags, renderEpisode, renderFormat } from './render-episode.ts'

export function addEvalCommand(program: Command, action: MakeAction): void {
  const command = program
    .command('eval')
    .argument('<AGENT>', 'agent folder, name in ./agents, or an installed @scope/name')
    .description('evaluate an agent on held-out episodes')
  const own = 'environment of an agent that was trained on one (default for Gymnasium: the same)'
  addEnvironmentOptions(command, own)
    .option('--episodes <N>', 'number of held-out episodes (default: 100)', wholeNumber('episodes', countRange))
    .option('--seed <S>', 'random seed, 0 to 2^53 - 1 (default: 0)', wholeNumber('seed', evaluationSeedRange))
    .addOption(
      new Option('--tasks <ORDER>', 'how tasks are chosen: drawn from the seed, or numbered as older versions did')
        .choices(taskOrderSchema.options)
        .default('drawn' satisfies TaskOrder),
    )
    .option('--scenario <DIR>', scenarioOptionText)
    .option(
      '--on-traces <FILE...>',
      'estimate the agent on logged decisions instead: traces, or a decision log, as JSON or JSON Lines',
    )
    .option('--outcome <NAME>', 'with --on-traces: score, feedback or field that says what came of an episode')
    .option('--sampled', "with --on-traces: by the agent's probabilities (default: its likeliest action)")
    .addOption(
      new Option(
        '--baseline <PLAYER>',
        'play episodes with a small local language model, too, and time decisions',
      ).choices(['language-model']),
    )
    .option('--core-price <USD>', 'with --baseline: what a core costs for an hour', corePrice, defaultCorePrice)
    .option('--save', 'with --baseline: write the comparison into agent.json and README.md of the folder')
    .option('--render <FILE>', 'write an episode to FILE: .html (plays), .gif (animated) or .png')
    .option('--beside <AGENT>', 'with --render: draw another agent, or random, next to it, with the same seed')
    .option(
      '--episode <N>',
      'with --render: number of the held-out episode (default: 0)',
      wholeNumber('episode', episodeRange),
    )
    .option(
      '--step <N>',
      'with --render FILE.png: the step to draw (default: the last)',
      wholeNumber('step', episodeRange),
    )
    .addOption(
      new Option('--theme <THEME>', 'with --render: colors of a GIF or PNG (default: light)').choices([
        'light',
        'dark',
      ]),
    )
    .action(action(evaluate))
}

const episodeRange = { least: 0, greatest: 1_000_000_000 - 1 }

export type EvalFlags = RenderFlags &
  EnvironmentFlags &
  OnTracesFlags &
  ComparisonFlags & { episodes?: number; tasks: TaskOrder }

function noPicture(name: string): AgentGymError {
  return new AgentGymError({
    code: 'usage_invalid',
    message: `--render draws episodes of scenarios, and the agent was trained on ${name}`,
    hint: 'Leave --render out, or render with the environment itself.',
  })
}

function noComparison(): AgentGymError {
  return new AgentGymError({
    code: 'usage_invalid',
    message: '--baseline plays episodes, and --on-traces estimates from a log without playing',
    hint: 'Run the two separately.',
  })
}

/** `agentgym eval`: evaluates an agent on held-out episodes in the sandbox, against the targets of its scenario. */
export async function evaluate(target: string, flags: EvalFlags, context: CommandContext): Promise<void> {
  if (flags.onTraces !== undefined) {
    if (flags.baseline !== undefined) throw noComparison()
    return evaluateOnTraces(target, flags, context)
  }
  const format = renderFormat(flags)
  const folder = await resolveAgentFolder(target, context)
  const { readAgent } = await context.runtime()
  const manifest = await readAgent(folder)
  if (format !== undefined && manifest.scenario.environment !== undefined) throw noPicture(manifest.scenario.name)
  checkComparison(manifest, folder, flags, context)
  const { terminal } = context
  // The path in the package store would mean nothing to the user.
  const shown = folder.startsWith(agentGymHome(context.io)) ? target : context.displayPath(folder)
  const played = safeText(`${manifest.scenario.name}@${manifest.scenario.version}`, 240)
  const episodes =
    flags.episodes === undefined ? 'held-out episodes' : `${formatCount(flags.episodes)} held-out episodes`
  context.print(`${terminal.symbols.next} Evaluating ${safeText(shown)} on ${terminal.paint.bold(played)}, ${episodes}`)

  const onLogs = (logs: ScenarioLogs) => {
    for (const line of logLines(logs, terminal, context.verbose ? 100 : 20)) context.print(line)
  }
  const evaluation = await playAgent(
    folder,
    manifest,
    { ...flags, taskOrder: flags.tasks, environment: flags, onLogs },
    context,
  )
  const comparison =
    flags.baseline === undefined ? undefined : await compareWithLanguageModel(folder, manifest, flags, context)
  context.printJson(comparison === undefined ? evaluation : { ...evaluation, comparison })
  for (const line of evaluationLines(evaluation, terminal, comparison)) context.print(line)
  if (flags.save) context.print(savedLine(folder, context))
  if (format !== undefined) await renderEpisode({ folder, manifest, shown }, format, flags, context)
  const again = `agentgym info ${shellQuote(shown)}`
  context.print(`${terminal.symbols.next} Training details: ${terminal.paint.accent(again)}`)
}
