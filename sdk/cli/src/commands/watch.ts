import type { Command } from 'commander'
import type { CommandContext, MakeAction } from '../command-context.ts'
import { countRange, evaluationSeedRange, rate, scenarioOptionText, wholeNumber } from '../option-values.ts'
import { obtainAgentScenario } from '../playing/agent-scenario.ts'
import { episodeOrder, levelOptionText } from '../playing/episode-order.ts'
import { watchLive, watchPlain } from '../playing/watch-agent.ts'
import { resolveAgentFolder } from '../targets/agents.ts'
import { safeText } from '../terminal/text.ts'
import { warnOfMissingWalls } from '../walls.ts'

export function addWatchCommand(program: Command, action: MakeAction): void {
  program
    .command('watch')
    .argument('<AGENT>', 'agent folder, name in ./agents, or an installed @scope/name')
    .description('watch an agent play held-out episodes in the terminal')
    .option(
      '--episodes <N>',
      'number of episodes (default: until q; without a terminal 1)',
      wholeNumber('episodes', countRange),
    )
    .option('--speed <N>', 'steps per second, 0.25 to 512 (default: 8)', rate('speed'))
    .option('--seed <S>', 'random seed, 0 to 2^53 - 1 (default: 0)', wholeNumber('seed', evaluationSeedRange))
    .option('--level <LEVEL>', levelOptionText)
    .option('--scenario <DIR>', scenarioOptionText)
    .addHelpText('after', keysHelp)
    .action(action(watch))
}

const keysHelp = `
Keys: space pauses, right plays one step, + and - change the speed, n skips to the next episode, q quits.
The episodes are those of agentgym eval with the same seed. Without a terminal, each step is one line.
`

export type WatchFlags = { episodes?: number; speed?: number; seed?: number; level?: string; scenario?: string }

/** `agentgym watch`: the agent plays, and the terminal shows what its scenario looks like. */
export async function watch(target: string, flags: WatchFlags, context: CommandContext): Promise<void> {
  const folder = await resolveAgentFolder(target, context)
  const runtime = await context.runtime()
  const manifest = await runtime.readAgent(folder)
  await warnOfMissingWalls(context)
  const scenario = await obtainAgentScenario(manifest, flags.scenario, context)
  const { seed = 0, episodes, speed = 8 } = flags
  const session = await runtime.openPlay({ scenario, player: { agent: folder }, seed })
  const title = safeText(`${manifest.scenario.name}@${manifest.scenario.version}`, 120)
  try {
    const order = episodeOrder(session.opened.levels, flags.level)
    const live = context.terminal.live && context.io.stdin.isTTY === true && !context.json
    if (live) await watchLive(session, { title, speed, seed, episodes, order }, context)
    else await watchPlain(session, { title, seed, episodes: episodes ?? 1, order }, context)
  } finally {
    await session.close()
  }
}
