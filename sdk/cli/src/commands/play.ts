import { AgentGymError } from '@agentgym/contract'
import type { Command } from 'commander'
import { type CommandContext, type MakeAction, version } from '../command-context.ts'
import { countRange, evaluationSeedRange, rate, wholeNumber } from '../option-values.ts'
import { beginDemonstrations, readDemonstrations, replayDifference } from '../playing/demonstrations.ts'
import { episodeOrder, levelOptionText } from '../playing/episode-order.ts'
import { playLive } from '../playing/play-scenario.ts'
import { obtainScenarioFolder } from '../targets/scenarios.ts'
import { formatValue } from '../terminal/format-values.ts'
import { safeText } from '../terminal/text.ts'
import { warnOfMissingWalls } from '../walls.ts'

export function addPlayCommand(program: Command, action: MakeAction): void {
  program
    .command('play')
    .argument('<SCENARIO>', 'scenario folder, built-in name, or @scope/name')
    .description('play a scenario yourself in the terminal')
    .option('--episodes <N>', 'number of episodes (default: until q)', wholeNumber('episodes', countRange))
    .option('--seed <S>', 'random seed, 0 to 2^53 - 1 (default: 0)', wholeNumber('seed', evaluationSeedRange))
    .option('--level <LEVEL>', levelOptionText)
    .option('--fps <N>', 'play in real time: that many steps per second, 0.25 to 512', rate('fps'))
    .option('--default <ACTION>', 'with --fps: the action while no key is pressed (default: one that does nothing)')
    .option('--record <FILE>', 'write finished episodes to a new file, as demonstrations')
    .option('--replay <FILE>', 'play recorded demonstrations again and check that every bit is the same')
    .addHelpText('after', keysHelp)
    .action(action(play))
}

const keysHelp = `
Keys: arrows where actions are called left, right, up or down; digits and letters for the others; q or Esc quits, n begins the
next episode. Tools and their arguments are asked one after the other, backspace goes back.
A file of demonstrations has one JSON value per line: first the scenario and the seed, then each episode's actions, rewards and
trajectory hash.
`

export type PlayFlags = {
  episodes?: number
  seed?: number
  level?: string
  fps?: number
  default?: string
  record?: string
  replay?: string
}

/** `agentgym play`: a person plays held-out episodes, or recorded ones are played again. */
export async function play(target: string, flags: PlayFlags, context: CommandContext): Promise<void> {
  if (flags.replay !== undefined) return replay(target, flags.replay, context)
  const { io, terminal } = context
  if (context.json || !terminal.live || io.stdin.isTTY !== true)
    throw new AgentGymError({
      code: 'usage_invalid',
      message: 'agentgym play needs a terminal to read keys from',
      hint: 'Run it in a terminal. To check recorded episodes without one, use --replay FILE.',
    })
  const runtime = await context.runtime()
  const scenario = await runtime.loadScenario(await obtainScenarioFolder(target, context))
  await warnOfMissingWalls(context)
  const { seed = 0 } = flags
  const session = await runtime.openPlay({ scenario, player: 'person', seed })
  try {
    const order = episodeOrder(session.opened.levels, flags.level)
    const path = flags.record === undefined ? undefined : context.resolve(flags.record)
    if (path !== undefined) await beginDemonstrations(path, { scenario, seed, agentgym: version(), session })
    const { name, version: of } = scenario.package
    const results = await playLive(
      session,
      { title: safeText(`${name}@${of}`, 120), seed, order, record: path, ...flags },
      context,
    )
    for (const line of results) context.print(line)
    if (path !== undefined) {
      context.print(
        `${terminal.symbols.ok} Recorded ${results.length} episodes in ${safeText(context.displayPath(path))}`,
      )
      const again = `agentgym play ${target} --replay ${flags.record}`
      context.print(`${terminal.symbols.next} Check them: ${terminal.paint.accent(safeText(again))}`)
    }
  } finally {
    await session.close()
  }
}

async function replay(target: string, file: string, context: CommandContext): Promise<void> {
  const { head, episodes } = await readDemonstrations(context.resolve(file), safeText(file, 200))
  const runtime = await context.runtime()
  const scenario = await runtime.loadScenario(await obtainScenarioFolder(target, context))
  const { symbols } = context.terminal
  if (scenario.hash !== head.scenario.hash)
    throw new AgentGymError({
      code: 'scenario_mismatch',
      message: `the demonstrations were recorded on ${safeText(head.scenario.name, 120)}@${safeText(head.scenario.version, 60)} (bundle ${head.scenario.hash.slice(0, 12)}), not on bundle ${scenario.hash.slice(0, 12)}`,
      hint: 'Replay them on the build that they were recorded on.',
      data: {
        scenario: head.scenario.name,
        version: head.scenario.version,
        hash: head.scenario.hash,
        given: scenario.hash,
      },
    })
  await warnOfMissingWalls(context)
  const session = await runtime.openPlay({ scenario, player: 'person', seed: head.seed, look: false })
  try {
    for (const recorded of episodes) {
      const difference = await replayDifference(session, recorded)
      context.printJson({
        episode: recorded.episode,
        steps: recorded.actions.length,
        same: difference === null,
        difference,
      })
      const said = `episode ${recorded.episode + 1}: ${recorded.actions.length} steps, return ${formatValue(recorded.return)}`
      context.print(
        difference === null ? `${symbols.ok} ${said}, the same bits` : `${symbols.failed} ${said}: ${difference}`,
      )
      if (difference !== null) context.exitCode = 1
    }
  } finally {
    await session.close()
  }
}
