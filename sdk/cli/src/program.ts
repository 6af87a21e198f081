import { readFileSync } from 'node:fs'
import { Command, Help, Option } from 'commander'
import type { ContextOf, GlobalFlags } from './command-context.ts'
import type { CommandIo, OutputStream } from './command-io.ts'
import { collectSetting, countRange, seedRange, wholeNumber } from './command-line-numbers.ts'
import { addMarketCommands, defaultCommands } from './market-program.ts'
import { addAccountCommands, addRegistryCommands, addServerCommands } from './registry-program.ts'
import { describeTerminal, type Terminal } from './terminal/terminal.ts'
import { addTrainingCommands } from './training-program.ts'

/**
 * The command line as a tree. Commands are loaded when they run, so that help and errors come at once. Errors are thrown,
 * never printed here.
 */
export function makeProgram(io: CommandIo, flags: GlobalFlags, contextOf: ContextOf): Command {
  const terminal = describeTerminal(io.stdout, io.environment, flags)
  const program = new Command('agentgym')
    .description('Write, publish, train and evaluate reinforcement-learning scenarios.')
    .usage('COMMAND [options]')
    .helpOption('-h, --help', 'show help')
    .helpCommand('help [command]', 'show help for a command')
    .option('--json', 'print JSON: one value, or one a line while a command runs')
    .option('--verbose', 'say more: settings, error details, stacks')
    .option('--no-color', 'no colours (NO_COLOR does the same)')
    .addHelpText('after', helpFooter)
  addScenarioCommands(program, contextOf)
  addTrain(program, contextOf)
  addEval(program, contextOf)
  addInspection(program, contextOf)
  addTrainingCommands(program, contextOf)
  addRegistryCommands(program, contextOf)
  addMarketCommands(program, contextOf)
  addAccountCommands(program, contextOf)
  addServerCommands(program, contextOf)
  for (const command of everyCommand(program)) configure(command, io.stdout, terminal)
  return program
}

const helpFooter = `
Start here:
  agentgym list                      what there is to train on
  agentgym train cart-pole           train an agent
  agentgym eval agents/cart-pole     hold it against the scenario's targets
  agentgym search                    what others have published
`

function addScenarioCommands(program: Command, contextOf: ContextOf): void {
  const scenario = program
    .command('scenario')
    .usage('COMMAND [options]')
    .description('write, check, build and publish scenarios')
  scenario
    .command('init')
    .argument('<DIR>', 'folder to write to; existing files are never overwritten')
    .description('write a new scenario that passes every check')
    .option('--template <NAME>', 'control (numbers in, action out) or tools (an agent that calls tools)')
    .option('--name <NAME>', 'npm name; by default the name of the folder')
    .option('--title <TITLE>', 'title for people; by default made from the name')
    .option('-y, --yes', 'ask nothing, take the defaults')
    .action(async (directory, options, command: Command) => {
      const { scenarioInit } = await import('./commands/scenario-init.ts')
      await scenarioInit(directory, options, contextOf(command))
    })
  scenario
    .command('check')
    .argument('[DIR]', 'scenario folder or built-in name', '.')
    .description('run every check in the sandbox; exit 1 when one fails')
    .action(async (target, _, command: Command) => {
      const { scenarioCheck } = await import('./commands/scenario-check.ts')
      await scenarioCheck(target, contextOf(command))
    })
  scenario
    .command('build')
    .argument('[DIR]', 'scenario folder or built-in name', '.')
    .description('bundle the scenario into dist/scenario.js and print its hash')
    .action(async (target, _, command: Command) => {
      const { scenarioBuild } = await import('./commands/scenario-build.ts')
      await scenarioBuild(target, contextOf(command))
    })
  scenario
    .command('publish')
    .argument('[DIR]', 'scenario folder or built-in name', '.')
    .description('check, bundle, pack and upload the scenario')
    .option('--tag <TAG>', 'tag of the version (by default latest, if it is the newest release)')
    .option('--private', 'only members of the account see it (when the package is new)')
    .option('--dry-run', 'show exactly what would go; upload nothing')
    .option('--no-wait', "do not wait for the server's checks")
    .action(async (target, options, command: Command) => {
      const { scenarioPublish } = await import('./commands/scenario-publish.ts')
      await scenarioPublish(target, options, contextOf(command))
    })
}

function addTrain(program: Command, contextOf: ContextOf): void {
  program
    .command('train')
    .argument('<TARGET>', 'scenario folder, built-in name, or @scope/name[@range] from the registry')
    .description('train an agent on a scenario in the sandbox')
    .option('--algorithm <NAME>', "ppo or grpo (by default the scenario's, else ppo)")
    .option('--steps <N>', "environment steps (by default the scenario's)", wholeNumber('steps', countRange))
    .option(
      '--seed <S>',
      `seed, ${seedRange.least} to ${seedRange.greatest} (default: 1)`,
      wholeNumber('seed', seedRange),
    )
    .option('--out <DIR>', 'folder of the agent (default: agents/NAME)')
    .option('--set <KEY=VALUE>', 'a training setting, such as learning_rate=0.001; may be repeated', collectSetting)
    .option('--resume', 'go on with an interrupted run from its last checkpoint')
    .option('--force', 'start anew where an agent is; the old one moves aside')
    .option('--watch', 'full-screen dashboard; with --remote, follow the run and fetch the agent')
    .option('--remote', "train on the server's machines; TARGET is @scope/name[@range]")
    .option('--budget <AMOUNT>', "most that a remote run may cost, such as 2.50, in the server's currency")
    .option('--publish <NAME[@VERSION]>', 'publish the agent of a remote run once it is completed')
    .option('--private', 'with --publish: only members of the account see it (when the package is new)')
    .option('--account <NAME>', 'organisation that a remote run is for (by default you)')
    .option('--note <TEXT>', 'a remote run: what it is for, as lists of runs show it')
    .option(
      '--trajectories <N>',
      'a remote run: sample trajectories every N iterations',
      wholeNumber('trajectories', { least: 1, greatest: 1_000_000 }),
    )
    .option('-y, --yes', 'a remote run on a scenario that is paid for by the run: do not ask')
    .action(async (target, options, command: Command) => {
      const { train } = await import('./commands/train.ts')
      await train(target, options, contextOf(command))
    })
}

function addEval(program: Command, contextOf: ContextOf): void {
  program
    .command('eval')
    .argument('<AGENT>', 'agent folder, or the name of one in ./agents')
    .description('play held-out episodes and hold an agent against its targets')
    .option('--episodes <N>', 'held-out episodes', wholeNumber('episodes', countRange))
    .option('--seed <S>', `seed, ${seedRange.least} to ${seedRange.greatest}`, wholeNumber('seed', seedRange))
    .option('--scenario <DIR>', 'the scenario (folder or name), where this machine does not know it')
    .action(async (target, options, command: Command) => {
      const { evaluate } = await import('./commands/eval.ts')
      await evaluate(target, options, contextOf(command))
    })
}

function addInspection(program: Command, contextOf: ContextOf): void {
  program
    .command('list')
    .description('list built-in scenarios, installed packages and the agents in ./agents')
    .action(async (_, command: Command) => {
      const { list } = await import('./commands/list.ts')
      await list(contextOf(command))
    })
  program
    .command('info')
    .argument('<TARGET>', 'scenario folder, built-in name, agent folder or @scope/name[@version]')
    .description('show a manifest, how good an agent is, or a page of the registry')
    .action(async (target, _, command: Command) => {
      const { info } = await import('./commands/info.ts')
      await info(target, contextOf(command))
    })
}

function configure(command: Command, stdout: OutputStream, terminal: Terminal): void {
  command
    .exitOverride()
    .showSuggestionAfterError()
    .allowExcessArguments(false)
    .configureOutput({
      // Errors are thrown and printed in one place, in the form that was asked for.
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
  // Not one of the program's own options, which would be taken wherever it stands: `agent publish --version` is another.
  if (command.parent === null) return [...own, new Option('-V, --version', 'print the version')]
  const inner = command.commands.find((one) => one.name() === defaultCommands[command.name()])
  return [...(inner?.options ?? []), ...own]
}

function helpStyle({ paint }: Terminal): Partial<Help> {
  return { styleTitle: paint.bold, styleCommandText: paint.accent, styleDescriptionText: (text) => text }
}

function everyCommand(command: Command): Command[] {
  return [command, ...command.commands.flatMap(everyCommand)]
}

/** The version of this command. */
export function version(): string {
  return JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version
}
