import { AgentGymError, nearestName } from '@agentgym/contract'
import { Command, Help, Option } from 'commander'
import type { GlobalFlags, MakeAction } from './command-context.ts'
import type { CommandIo, OutputStream } from './command-io.ts'
import { describeTerminal, type Terminal } from './terminal/terminal.ts'

type AddCommands = (program: Command, action: MakeAction) => void

/** Each file of commands with the commands that it adds, in the order of the help. */
const commandFiles: { names: string[]; load: () => Promise<AddCommands> }[] = [
  { names: ['scenario'], load: async () => (await import('./commands/scenario.ts')).addScenarioCommands },
  { names: ['train'], load: async () => (await import('./commands/train.ts')).addTrainCommand },
  { names: ['tune'], load: async () => (await import('./commands/tune.ts')).addTuneCommand },
  { names: ['eval'], load: async () => (await import('./commands/eval.ts')).addEvalCommand },
  { names: ['watch'], load: async () => (await import('./commands/watch.ts')).addWatchCommand },
  { names: ['play'], load: async () => (await import('./commands/play.ts')).addPlayCommand },
  { names: ['list'], load: async () => (await import('./commands/list.ts')).addListCommand },
  { names: ['info'], load: async () => (await import('./commands/info.ts')).addInfoCommand },
  { names: ['runs'], load: async () => (await import('./commands/runs.ts')).addRunCommands },
  { names: ['agent'], load: async () => (await import('./commands/agent.ts')).addAgentCommands },
  { names: ['export'], load: async () => (await import('./commands/export.ts')).addExportCommands },
  { names: ['deploy'], load: async () => (await import('./commands/deploy.ts')).addDeployCommand },
  { names: ['env'], load: async () => (await import('./commands/env.ts')).addEnvCommands },
  { names: ['gpus'], load: async () => (await import('./commands/gpus.ts')).addGpuCommands },
  { names: ['status'], load: async () => (await import('./commands/status.ts')).addStatusCommand },
  { names: ['leaderboard'], load: async () => (await import('./commands/leaderboard.ts')).addLeaderboardCommand },
  { names: ['search'], load: async () => (await import('./commands/search.ts')).addSearchCommand },
  { names: ['install', 'outdated'], load: async () => (await import('./commands/install.ts')).addInstallCommands },
  {
    names: ['versions', 'tag', 'deprecate', 'yank'],
    load: async () => (await import('./commands/package-versions.ts')).addVersionCommands,
  },
  { names: ['buy'], load: async () => (await import('./commands/buy.ts')).addBuyCommand },
  { names: ['balance'], load: async () => (await import('./commands/balance.ts')).addBalanceCommands },
  { names: ['orders'], load: async () => (await import('./commands/orders.ts')).addOrderCommands },
  { names: ['price'], load: async () => (await import('./commands/price.ts')).addPriceCommand },
  { names: ['earnings'], load: async () => (await import('./commands/earnings.ts')).addEarningsCommands },
  { names: ['spend-cap'], load: async () => (await import('./commands/spend-cap.ts')).addSpendCapCommands },
  { names: ['webhook'], load: async () => (await import('./commands/webhook.ts')).addWebhookCommands },
  {
    names: ['signup', 'login', 'logout', 'whoami', 'token'],
    load: async () => (await import('./commands/account.ts')).addAccountCommands,
  },
  { names: ['serve'], load: async () => (await import('./commands/serve.ts')).addServeCommand },
  { names: ['operator'], load: async () => (await import('./commands/operator.ts')).addOperatorCommands },
  { names: ['admin'], load: async () => (await import('./commands/admin.ts')).addAdminCommands },
  { names: ['worker'], load: async () => (await import('./commands/worker.ts')).addWorkerCommand },
]

export type ProgramOptions = {
  io: CommandIo
  flags: GlobalFlags
  action: MakeAction
  /** The command that was typed: only its file is loaded. All of them for help, and for a name that does not exist. */
  command?: string
}

/** The command line as a tree. Errors are thrown, never printed here. */
export async function makeProgram({ io, flags, action, command }: ProgramOptions): Promise<Command> {
  const program = new Command('agentgym')
    .description('Write, publish, train and evaluate reinforcement-learning scenarios and agents.')
    .usage('COMMAND [options]')
    .helpOption('-h, --help', 'show help')
    // The parser's own help command takes one word, and groups have commands.
    .helpCommand(false)
    .option('--json', 'output JSON: one value, or one per line while a command runs')
    .option('--verbose', 'verbose output: settings, error details, stack traces')
    .option('--no-color', 'disable colors (also: NO_COLOR)')
    .addHelpText('after', helpFooter)
  const typed = commandFiles.find(({ names }) => command !== undefined && names.includes(command))
  for (const { load } of typed ? [typed] : commandFiles) (await load())(program, action)
  program
    .command('help')
    .argument('[command...]')
    .description('show help for a command')
    .action(action(async (names: string[]) => findCommand(program, names).outputHelp()))
  const terminal = describeTerminal(io.stdout, io.environment, flags)
  for (const each of everyCommand(program)) configure(each, io.stdout, terminal)
  return program
}

/** The command with this name, such as `scenario init`. Throws `usage_invalid` with the nearest names. */
function findCommand(program: Command, names: readonly string[]): Command {
  let found = program
  for (const [index, name] of names.entries()) {
    const inner = found.commands.find((command) => command.name() === name)
    if (!inner) throw unknownCommand(program, found, names.slice(0, index + 1))
    found = inner
  }
  return found
}

function unknownCommand(program: Command, group: Command, names: readonly string[]): AgentGymError {
  const typed = names.at(-1) ?? ''
  const siblings = group.commands.map((command) => command.name())
  const nearest = nearestName(typed, siblings)
  // `help init` means `help scenario init`.
  const elsewhere = everyCommand(program)
    .filter((command) => command.name() === typed)
    .map(fullName)
  const suggestions = nearest ? [[...names.slice(0, -1), nearest].join(' ')] : elsewhere
  const hint =
    suggestions.length > 0
      ? `Did you mean ${suggestions.join(' or ')}?`
      : siblings.length > 0
        ? `Commands of ${group === program ? 'agentgym' : fullName(group)}: ${siblings.join(', ')}.`
        : `agentgym ${fullName(group)} has no subcommands. Run agentgym help ${fullName(group)}.`
  return new AgentGymError({
    code: 'usage_invalid',
    message: `unknown command '${names.join(' ')}'`,
    hint,
    data: suggestions.length > 0 ? { suggestion: suggestions[0] } : {},
  })
}

/** `scenario init`, without the name of the program. */
function fullName(command: Command): string {
  const names: string[] = []
  for (let each = command; each.parent; each = each.parent) names.unshift(each.name())
  return names.join(' ')
}

const helpFooter = `
Get started:
  agentgym list                      list the built-in scenarios
  agentgym train cart-pole           train an agent
  agentgym eval agents/cart-pole     evaluate it on held-out episodes
  agentgym search                    browse the registry
`

function configure(command: Command, stdout: OutputStream, terminal: Terminal): void {
  command
    .exitOverride()
    .showSuggestionAfterError()
    .allowExcessArguments(false)
    .configureOutput({
      // Errors are thrown and printed in one place, as text or as JSON.
      outputError: () => {},
      writeErr: () => {},
      writeOut: (text) => stdout.write(text),
      getOutHelpWidth: () => terminal.columns(),
      getOutHasColors: () => terminal.color,
    })
    .configureHelp({ showGlobalOptions: true, ...helpStyle(terminal), visibleOptions })
}

function visibleOptions(this: Help, command: Command): Option[] {
  const own = Help.prototype.visibleOptions.call(this, command)
  // Not one of the program's own options, which commander would accept anywhere: `agent publish --version` is another.
  if (command.parent === null) return [...own, new Option('-V, --version', 'print the version')]
  // A group with an optional command runs its first one by default.
  const inner = command.usage().startsWith('[COMMAND]') ? command.commands[0] : undefined
  return [...(inner?.options ?? []), ...own]
}

function helpStyle({ paint }: Terminal): Partial<Help> {
  return { styleTitle: paint.bold, styleCommandText: paint.accent, styleDescriptionText: (text) => text }
}

function everyCommand(command: Command): Command[] {
  return [command, ...command.commands.flatMap(everyCommand)]
}
