import { AgentGymError } from '@agentgym/contract'
import type { RewardRange } from '@agentgym/runtime/env-server'
import type { CommandContext } from '../command-context.ts'
import { writeOpenEnvFolder } from '../deploying/openenv-folder.ts'
import { obtainScenarioFolder } from '../targets/scenarios.ts'
import { safeText } from '../terminal/text.ts'
import { warnOfMissingWalls } from '../walls.ts'

export type EnvManifestFlags = { out: string; rewardRange?: RewardRange; baseImage: string }

/** Parses `-1,1`. Throws `config_invalid`. */
export function rewardRange(text: string): RewardRange {
  const parts = text.split(',')
  const [low, high] = parts.map((part) => (part.trim() === '' ? Number.NaN : Number(part)))
  if (parts.length === 2 && Number.isFinite(low) && Number.isFinite(high) && low < high) return { low, high }
  throw new AgentGymError({
    code: 'config_invalid',
    message: `--reward-range is ${JSON.stringify(text.slice(0, 100))}, which is not two numbers, the lower one first`,
    hint: 'Give the least and the greatest reward of a step, such as --reward-range=-1,1.',
    data: { field: 'reward-range' },
  })
}

/** `agentgym env manifest`: a scenario as an environment of OpenEnv, which its tools validate, build and publish. */
export async function envManifest(
  target: string,
  { out, rewardRange: declared, baseImage }: EnvManifestFlags,
  context: CommandContext,
): Promise<void> {
  const [{ openEnvironment, openEnvPackage }, { loadScenario }] = await Promise.all([
    import('@agentgym/runtime/env-server'),
    context.runtime(),
  ])
  const scenario = await loadScenario(await obtainScenarioFolder(target, context))
  await warnOfMissingWalls(context)
  const environment = await openEnvironment(scenario)
  try {
    const { files, range, episodes } = await openEnvPackage(environment, declared)
    const folder = context.resolve(out)
    const { readme } = environment
    const written = await writeOpenEnvFolder(folder, { scenario, readme, files, baseImage })
    context.printJson({ folder, files: written, reward_range: [range.low, range.high], episodes })
    const { symbols, paint } = context.terminal
    const shown = safeText(context.displayPath(folder))
    context.print(`${symbols.ok} Wrote ${written.join(', ')} to ${shown}`)
    const measured = episodes === 0 ? 'as given' : `seen in ${episodes} episodes; --reward-range declares another`
    context.print(`${symbols.next} Rewards of a step: ${range.low} to ${range.high} (${measured})`)
    context.print(`${symbols.next} Check it: ${paint.accent(`openenv validate ${shown} --level static --skip-build`)}`)
    context.print(`${symbols.next} Build it: ${paint.accent(`docker build --tag ${environment.name} ${shown}`)}`)
  } finally {
    await environment.host.close()
  }
}
