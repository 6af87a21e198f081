import type { Command } from 'commander'
import type { ContextOf } from './command-context.ts'
import { wholeNumber } from './command-line-numbers.ts'

const runArgument = 'id of a run, or its first 4 or more characters'

/** The commands about runs on shared machines, and about what comes of them. */
export function addTrainingCommands(program: Command, contextOf: ContextOf): void {
  const runs = program
    .command('runs')
    .usage('COMMAND [options]')
    .description("follow and end runs on the server's machines")
  addRuns(runs, contextOf)
  addRunFiles(runs, contextOf)
  addAgents(
    program.command('agent').usage('COMMAND [options]').description('publish, install and verify trained agents'),
    contextOf,
  )
  program
    .command('status')
    .description("show the server's queue, its workers and your runs")
    .action(async (_, command: Command) => {
      const { status } = await import('./commands/status.ts')
      await status(contextOf(command))
    })
  program
    .command('leaderboard')
    .argument('<NAME>', 'scenario: @scope/name[@version]')
    .description('list the verified agents of a scenario, best first')
    .option('--limit <N>', 'agents a page (default: 25)', wholeNumber('limit', { least: 1, greatest: 100 }))
    .option('--cursor <CURSOR>', 'the next page, as the one before it names it')
    .action(async (name, options, command: Command) => {
      const { leaderboard } = await import('./commands/leaderboard.ts')
      await leaderboard(name, options, contextOf(command))
    })
}

function addAgents(agent: Command, contextOf: ContextOf): void {
  agent
    .command('publish')
    .argument('<AGENT>', "agent folder, the name of one in ./agents, or a run's id")
    .description('publish an agent; the server plays it again and signs the result')
    .option('--name <NAME>', "@scope/name (by default package.json's, in your account's scope)")
    .option('--version <VERSION>', "version (by default package.json's)")
    .option('--tag <TAG>', 'tag of the version (by default latest, if it is the newest release)')
    .option('--private', 'only members of the account see it (when the package is new)')
    .option('--dry-run', 'show exactly what would go; upload nothing')
    .option('--wait', 'wait until a worker has played it (the default)')
    .option('--no-wait', 'do not wait')
    .action(async (target, options, command: Command) => {
      const { agentPublish } = await import('./commands/agent-publish.ts')
      await agentPublish(target, options, contextOf(command))
    })
  agent
    .command('verify')
    .argument('<AGENT>', '@scope/name[@range], or an agent folder')
    .description("check an agent's signature and run its evaluations again, here")
    .option('--scenario <DIR>', 'the scenario (folder or name), where this machine does not know it')
    .action(async (target, options, command: Command) => {
      const { agentVerify } = await import('./commands/agent-verify.ts')
      await agentVerify(target, options, contextOf(command))
    })
  agent
    .command('install')
    .argument('<NAME...>', '@scope/name[@range, tag or version]')
    .description('install agents, as agentgym install does')
    .action(async (names, _, command: Command) => {
      const { install } = await import('./commands/install.ts')
      await install(names, contextOf(command))
    })
}

function addRuns(runs: Command, contextOf: ContextOf): void {
  runs
    .command('list')
    .description('list your runs, newest first')
    .option('--state <STATE>', 'queued, running, completed, failed, cancelled or budget_exceeded')
    .option('--scenario <NAME>', 'of this scenario: @scope/name')
    .option('--account <NAME>', 'of this account (by default all of yours)')
    .option('--limit <N>', 'runs a page (default: 20)', wholeNumber('limit', { least: 1, greatest: 100 }))
    .option('--cursor <CURSOR>', 'the next page, as the one before it names it')
    .action(async (options, command: Command) => {
      const { runsList } = await import('./commands/runs-list.ts')
      await runsList(options, contextOf(command))
    })
  runs
    .command('show')
    .argument('<RUN>', runArgument)
    .description('show a run: learning curve, result, cost, events')
    .action(async (run, _, command: Command) => {
      const { runsShow } = await import('./commands/runs-show.ts')
      await runsShow(run, contextOf(command))
    })
  runs
    .command('watch')
    .argument('<RUN>', runArgument)
    .description('follow a run to its end; Ctrl-C leaves it running')
    .action(async (run, _, command: Command) => {
      const { runsWatch } = await import('./commands/runs-watch.ts')
      await runsWatch(run, contextOf(command))
    })
  runs
    .command('cancel')
    .argument('<RUN>', runArgument)
    .description('end a run; its last checkpoint is kept for a while')
    .action(async (run, _, command: Command) => {
      const { runsCancel } = await import('./commands/runs-change.ts')
      await runsCancel(run, contextOf(command))
    })
  runs
    .command('resume')
    .argument('<RUN>', runArgument)
    .description('go on with a run that used up its budget')
    .requiredOption('--budget <AMOUNT>', 'the new limit on the whole run, above what it has spent, such as 5.00')
    .action(async (run, options, command: Command) => {
      const { runsResume } = await import('./commands/runs-change.ts')
      await runsResume(run, options, contextOf(command))
    })
}

function addRunFiles(runs: Command, contextOf: ContextOf): void {
  runs
    .command('download')
    .argument('<RUN>', runArgument)
    .description('fetch the agent of a completed run')
    .option('--out <DIR>', 'folder of the agent (default: agents/NAME)')
    .option('--force', 'an agent that is there moves aside')
    .action(async (run, options, command: Command) => {
      const { runsDownload } = await import('./commands/runs-download.ts')
      await runsDownload(run, options, contextOf(command))
    })
  runs
    .command('export')
    .argument('<RUN>', runArgument)
    .description('write what a run measured to a file')
    .option('--csv', 'the learning curve, a line an iteration (the default)')
    .option('--tensorboard', "the learning curve as TensorBoard's event file")
    .option('--trajectories', 'sampled trajectories, a JSON object a line')
    .option('--out <FILE>', 'the file (by default run-ID with an ending of its kind); - for stdout')
    .action(async (run, options, command: Command) => {
      const { runsExport } = await import('./commands/runs-export.ts')
      await runsExport(run, options, contextOf(command))
    })
}
