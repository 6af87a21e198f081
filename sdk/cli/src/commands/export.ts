import { createWriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { finished } from 'node:stream/promises'
import { AgentGymError, namingFile } from '@agentgym/contract'
import type { Demonstration, Demonstrator, ServedEnvironment, SplitName } from '@agentgym/runtime/env-server'
import { type Command, Option } from 'commander'
import type { CommandContext, MakeAction } from '../command-context.ts'
import { cancelOnInterrupt } from '../command-io.ts'
import { writeVerifiersPackage } from '../exporting/verifiers-package.ts'
import { countRange, wholeNumber } from '../option-values.ts'
import { obtainAgentFolder } from '../targets/agents.ts'
import { obtainScenarioFolder } from '../targets/scenarios.ts'
import { safeText } from '../terminal/text.ts'

const splits = ['train', 'validation', 'test'] as const

export function addExportCommands(program: Command, action: MakeAction): void {
  const group = program
    .command('export')
    .usage('COMMAND [options]')
    .description('write scenarios in the forms that trainers of language models read')
  const split = () => new Option('--split <SPLIT>', 'tasks to take').choices(splits).default('train')
  group
    .command('sft')
    .argument('<SCENARIO>', 'folder, name of a built-in scenario, or @scope/name[@range]')
    .description('write episodes as conversations, one JSON line each, for supervised fine-tuning')
    .requiredOption('--out <FILE>', 'file to write (.jsonl)')
    .option('--player <WHO>', "oracle: the scenario's own; or an agent, as agentgym eval takes it", 'oracle')
    .option('--episodes <N>', 'tasks to play', wholeNumber('episodes', countRange), 100)
    .addOption(split())
    .option('--least-return <R>', 'leave out episodes with a lower return', Number)
    .option('--tools', 'write calls as tool calls instead of text')
    .action(action(exportSft))
  group
    .command('verifiers')
    .argument('<SCENARIO>', 'folder, name of a built-in scenario, or @scope/name[@range]')
    .description(
      'write a Python package for verifiers, with configurations for vf-eval, prime-rl and AgentGym-RL (verl)',
    )
    .requiredOption('--out <DIR>', 'folder to write')
    .option('--url <URL>', 'where agentgym env serve listens', 'http://127.0.0.1:8000')
    .option('--tasks <N>', 'tasks to train on', wholeNumber('tasks', countRange), 512)
    .action(action(exportVerifiers))
}

type SftFlags = {
  out: string
  player: string
  episodes: number
  split: SplitName
  leastReturn?: number
  tools?: boolean
}

/** `agentgym export sft`: what a language model would have read and written, had it played like an oracle or an agent. */
export async function exportSft(target: string, flags: SftFlags, context: CommandContext): Promise<void> {
  if (Number.isNaN(flags.leastReturn)) {
    throw new AgentGymError({
      code: 'config_invalid',
      message: '--least-return is not a number',
      hint: 'Give a number, such as --least-return 0.5.',
      data: { field: 'least-return' },
    })
  }
  const path = context.resolve(flags.out)
  const interrupt = cancelOnInterrupt(context, () => {})
  const environment = await openScenario(target, context)
  try {
    const player = await findPlayer(flags.player, environment, context)
    const { tasksIn } = await import('@agentgym/runtime/env-server')
    const episodes = Math.min(flags.episodes, tasksIn(environment.description, flags.split))
    const played = demonstrations(environment, { ...flags, episodes, player }, interrupt.signal)
    const { kept, returns } = await namingFile(path, () => writeLines(path, played, flags.leastReturn))
    const mean = returns.reduce((sum, value) => sum + value, 0) / returns.length
    context.printJson({ file: path, episodes: kept, played: returns.length, return_mean: mean })
    const { paint, symbols } = context.terminal
    const left = returns.length - kept
    context.print(
      `${paint.accent(symbols.ok)} Wrote ${kept} conversations to ${safeText(context.displayPath(path))}, mean return ${mean.toPrecision(3)}${left === 0 ? '' : `; left out ${left}`}`,
    )
    context.print(`${symbols.next} TRL and prime-rl read its column messages.`)
  } finally {
    interrupt.release()
    await environment.host.close()
  }
}

async function openScenario(target: string, context: CommandContext): Promise<ServedEnvironment> {
  const [{ openEnvironment }, { loadScenario }] = await Promise.all([
    import('@agentgym/runtime/env-server'),
    context.runtime(),
  ])
  return openEnvironment(await loadScenario(await obtainScenarioFolder(target, context)))
}

async function findPlayer(
  name: string,
  { description, package: scenario }: ServedEnvironment,
  context: CommandContext,
): Promise<Demonstrator> {
  if (name !== 'oracle') {
    const { loadAgent } = await import('@agentgym/agent')
    const agent = await loadAgent(await obtainAgentFolder(name, context))
    if (agent.manifest.scenario.name === scenario.name) return { kind: 'agent', agent }
    throw new AgentGymError({
      code: 'scenario_mismatch',
      message: `the agent plays ${agent.manifest.scenario.name}, not ${scenario.name}`,
      hint: 'Name an agent of this scenario.',
    })
  }
  if (description.oracle === true) return { kind: 'oracle' }
  throw new AgentGymError({
    code: 'scenario_invalid',
    message: `${scenario.name} has no oracle`,
    hint: 'Name an agent with --player, or add oracle(state, { rng }) to the scenario.',
  })
}

type Played = { player: Demonstrator; episodes: number; split: SplitName; tools?: boolean }

async function* demonstrations(
  environment: ServedEnvironment,
  { player, episodes, split, tools = false }: Played,
  signal: AbortSignal,
): AsyncGenerator<Demonstration> {
  const { playDemonstration, Sessions } = await import('@agentgym/runtime/env-server')
  const sessions = new Sessions({ most: 1, idleMs: 600_000 })
  try {
    for (let index = 0; index < episodes; index++) {
      signal.throwIfAborted()
      yield await playDemonstration(index, { environment, sessions, player, split, tools })
    }
  } finally {
    sessions.close()
  }
}

/** The file appears whole. */
async function writeLines(path: string, played: AsyncIterable<Demonstration>, least = Number.NEGATIVE_INFINITY) {
  const unfinished = `${path}.${process.pid}.tmp`
  const returns: number[] = []
  let kept = 0
  const file = createWriteStream(unfinished)
  try {
    for await (const demonstration of played) {
      returns.push(demonstration.reward)
      if (demonstration.reward < least) continue
      kept += 1
      file.write(`${JSON.stringify(demonstration)}\n`)
    }
    file.end()
    await finished(file)
    await rename(unfinished, path)
    return { kept, returns }
  } finally {
    file.destroy()
    await rm(unfinished, { force: true })
  }
}

type VerifiersFlags = { out: string; url: string; tasks: number }

/** `agentgym export verifiers`: a package that verifiers and prime-rl train on, and configurations that run. */
export async function exportVerifiers(
  target: string,
  { out, url, tasks }: VerifiersFlags,
  context: CommandContext,
): Promise<void> {
  const { readScenarioPackage } = await import('@agentgym/runtime/scenario-package')
  const scenario = readScenarioPackage(await obtainScenarioFolder(target, context))
  const folder = context.resolve(out)
  const files = await writeVerifiersPackage(folder, { scenario, url, tasks })
  context.printJson({ folder, files })
  const { paint, symbols } = context.terminal
  const shown = safeText(context.displayPath(folder))
  context.print(`${paint.accent(symbols.ok)} Wrote ${shown}: ${files.join(', ')}`)
  context.print(`${symbols.next} Serve it: ${paint.accent(`agentgym env serve ${safeText(target)}`)}`)
  context.print(`${symbols.next} Train on it: see ${shown}/README.md`)
}
