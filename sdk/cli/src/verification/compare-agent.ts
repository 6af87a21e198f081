import { loadAgent } from '@agentgym/agent'
import { AgentGymError, type AgentManifest, type Comparison } from '@agentgym/contract'
import { agentGymHome } from '../account/connection.ts'
import type { CommandContext } from '../command-context.ts'
import { cancelOnInterrupt } from '../command-io.ts'
import { formatCount } from '../terminal/format-values.ts'
import { countProgress } from '../terminal/progress.ts'
import { safeText } from '../terminal/text.ts'
import { scenarioOf } from './play-agent.ts'

export type ComparisonFlags = {
  baseline?: 'language-model'
  corePrice: number
  save?: boolean
  episodes?: number
  seed?: number
  scenario?: string
}

/** What a core of a machine for rent costs for an hour: about half of what one with two costs at large clouds. */
export const defaultCorePrice = 0.05

/** Parses `--core-price`, in US dollars. Throws `config_invalid`. */
export function corePrice(text: string): number {
  const value = text.trim() === '' ? Number.NaN : Number(text)
  if (value >= 0 && value <= 10_000) return value
  throw new AgentGymError({
    code: 'config_invalid',
    message: `--core-price is ${JSON.stringify(text.slice(0, 100))}, which is not a price from 0 to 10000`,
    hint: `Give US dollars, such as --core-price ${defaultCorePrice}.`,
    data: { field: 'core-price' },
  })
}

/** Refuses what cannot be compared, before an evaluation takes its time. */
export function checkComparison(
  { scenario }: AgentManifest,
  folder: string,
  flags: ComparisonFlags,
  context: CommandContext,
) {
  if (flags.baseline === undefined && flags.save === true) {
    throw refused('--save keeps what --baseline measures', 'Add --baseline language-model, or leave --save out.')
  }
  if (flags.baseline !== undefined && scenario.environment !== undefined) {
    throw refused(`--baseline plays scenarios, and the agent was trained on ${scenario.name}`, 'Leave --baseline out.')
  }
  if (flags.save === true && folder.startsWith(agentGymHome(context.io))) {
    throw refused(
      '--save writes into the folder of an agent, and this one is an installed package',
      'Leave --save out.',
    )
  }
}

function refused(message: string, hint: string): AgentGymError {
  return new AgentGymError({ code: 'usage_invalid', message, hint })
}

/** Plays held-out episodes with a language model and without, and measures what a decision takes; `--save` keeps it with the agent. */
export async function compareWithLanguageModel(
  folder: string,
  manifest: AgentManifest,
  flags: ComparisonFlags,
  context: CommandContext,
): Promise<Comparison> {
  const comparing = await import('@agentgym/runtime/comparison')
  const { comparisonLimits, hasLanguageModel, languageModelSource } = comparing
  const { print, terminal } = context
  const episodes = Math.min(flags.episodes ?? comparisonLimits.episodes, comparisonLimits.episodes)
  if (!(await hasLanguageModel())) {
    const { name, engine, megabytes } = languageModelSource
    print(`${terminal.symbols.next} Downloading ${name} with ${engine}, ${megabytes} MB, once`)
  }
  const files = await comparing.obtainLanguageModel()
  print(
    `${terminal.symbols.next} Playing ${formatCount(episodes)} held-out episodes with ${languageModelSource.name}, at most ${comparisonLimits.minutes} minutes`,
  )
  const runtime = await context.runtime()
  const given = await scenarioOf(manifest.scenario, flags.scenario, runtime, context)
  const scenario = await runtime.scenarioOfAgent(manifest, { scenario: given, home: agentGymHome(context.io) })
  const interrupt = cancelOnInterrupt(context)
  const progress = countProgress('episodes', context)
  const agent = await loadAgent(folder)
  try {
    const model = await comparing.openLanguageModel(files)
    try {
      const comparison = await comparing.compareAgent({
        ...{ agent, scenario, model, episodes },
        ...{ seed: flags.seed ?? 0, corePrice: flags.corePrice },
        signal: interrupt.signal,
        onProgress: progress.update,
      })
      if (flags.save) await comparing.saveComparison(folder, comparison)
      return comparison
    } finally {
      await model.close()
    }
  } finally {
    agent.dispose()
    interrupt.release()
    progress.close()
  }
}

/** What was written, after the results. */
export function savedLine(folder: string, { terminal, displayPath }: CommandContext): string {
  const { paint, symbols } = terminal
  return `${paint.accent(symbols.ok)} Saved the comparison in agent.json and README.md of ${safeText(displayPath(folder))}`
}
