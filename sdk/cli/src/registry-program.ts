import type { Command } from 'commander'
import type { ContextOf } from './command-context.ts'
import { wholeNumber } from './command-line-numbers.ts'

const slotRange = { least: 1, greatest: 250 }
const processRange = { least: 1, greatest: 64 }

/** The commands that talk to a registry about packages. */
export function addRegistryCommands(program: Command, contextOf: ContextOf): void {
  addReading(program, contextOf)
  addManaging(program, contextOf)
}

function addReading(program: Command, contextOf: ContextOf): void {
  program
    .command('search')
    .argument('[QUERY...]', 'words; without them, everything')
    .description('find scenarios and agents in the registry')
    .option('--kind <KIND>', 'scenario or agent')
    .option('--category <NAME>', 'such as control or tool-use')
    .option('--difficulty <NAME>', 'beginner, intermediate, advanced or expert')
    .option('--algorithm <NAME>', 'such as ppo')
    .option('--price <PRICE>', 'free or paid')
    .option('--sort <ORDER>', 'relevance, downloads, newest or quality')
    .option('--limit <N>', 'packages a page (default: 20)', wholeNumber('limit', { least: 1, greatest: 100 }))
    .option('--cursor <CURSOR>', 'the next page, as the one before it names it')
    .action(async (words, options, command: Command) => {
      const { search } = await import('./commands/search.ts')
      await search(words, options, contextOf(command))
    })
  program
    .command('install')
    .argument('[NAME...]', '@scope/name[@range, tag or version]; without one, what agentgym.lock names')
    .description('install packages; nothing of them runs')
    .action(async (names, _, command: Command) => {
      const { install } = await import('./commands/install.ts')
      await install(names, contextOf(command))
    })
  program
    .command('outdated')
    .description('show installed packages that have newer versions')
    .action(async (_, command: Command) => {
      const { outdated } = await import('./commands/outdated.ts')
      await outdated(contextOf(command))
    })
  program
    .command('versions')
    .argument('<NAME>', '@scope/name')
    .description('list the versions of a package, with tags and state')
    .action(async (name, _, command: Command) => {
      const { versions } = await import('./commands/manage-package.ts')
      await versions(name, contextOf(command))
    })
}

function addManaging(program: Command, contextOf: ContextOf): void {
  program
    .command('tag')
    .argument('<VERSION>', '@scope/name@1.0.0; with --remove, @scope/name')
    .argument('<TAG>', 'such as next')
    .description('point a tag at a version')
    .option('--remove', 'remove the tag')
    .action(async (target, name, options, command: Command) => {
      const { tag } = await import('./commands/manage-package.ts')
      await tag(target, name, options, contextOf(command))
    })
  program
    .command('deprecate')
    .argument('<VERSION>', '@scope/name@1.0.0')
    .argument('<MESSAGE>', 'why, and what to use instead; empty takes the warning back')
    .description('warn whoever installs a version')
    .action(async (target, message, _, command: Command) => {
      const { deprecate } = await import('./commands/manage-package.ts')
      await deprecate(target, message, contextOf(command))
    })
  program
    .command('yank')
    .argument('<VERSION>', '@scope/name@1.0.0')
    .description('hide a version from ranges and tags; lock files keep it')
    .option('--undo', 'offer it again')
    .action(async (target, options, command: Command) => {
      const { yank } = await import('./commands/manage-package.ts')
      await yank(target, options, contextOf(command))
    })
}

export function addAccountCommands(program: Command, contextOf: ContextOf): void {
  program
    .command('signup')
    .description('make an account; the password comes from a prompt or AGENTGYM_PASSWORD')
    .requiredOption('--username <NAME>', 'also the scope of your packages: @NAME/…')
    .requiredOption('--email <ADDRESS>', 'where a lost password is mended')
    .action(async (options, command: Command) => {
      const { signup } = await import('./commands/signup.ts')
      await signup(options, contextOf(command))
    })
  program
    .command('login')
    .description('log in, in the browser unless told otherwise; also for npm and pnpm')
    .option('--username <NAME>', 'log in with a password, from a prompt or AGENTGYM_PASSWORD')
    .option('--token', 'store the token in AGENTGYM_TOKEN')
    .option('--scope <SCOPE>', 'one more scope that npm is to find here; may be repeated', collect)
    .option('--npmrc <FILE>', "the .npmrc to write to (by default the user's)")
    .option('--no-npmrc', 'leave npm alone')
    .action(async (options, command: Command) => {
      const { login } = await import('./commands/login.ts')
      await login(options, contextOf(command))
    })
  program
    .command('logout')
    .description('forget the token here and in .npmrc, and revoke it')
    .action(async (_, command: Command) => {
      const { logout } = await import('./commands/logout.ts')
      await logout(contextOf(command))
    })
  program
    .command('whoami')
    .description('show who the server takes you for')
    .action(async (_, command: Command) => {
      const { whoami } = await import('./commands/whoami.ts')
      await whoami(contextOf(command))
    })
  addToken(program, contextOf)
}

function addToken(program: Command, contextOf: ContextOf): void {
  program
    .command('token')
    .usage('COMMAND [options]')
    .description('make tokens for workers and programs')
    .command('create')
    .argument('<NAME>', 'what it is for, as the list of tokens shows it')
    .description('make a token and print it, this one time; asks for the password')
    .requiredOption('--username <NAME>', 'whose token it is')
    .requiredOption('--scope <SCOPE>', 'what it may do, such as worker or packages:publish; may be repeated', collect)
    .option('--days <N>', 'how long it holds (default: 90)', wholeNumber('days', { least: 1, greatest: 366 }))
    .action(async (name, options, command: Command) => {
      const { tokenCreate } = await import('./commands/token-create.ts')
      await tokenCreate(name, options, contextOf(command))
    })
}

export function addServerCommands(program: Command, contextOf: ContextOf): void {
  program
    .command('serve')
    .description(
      'start the registry: API, npm registry, catalogue, and a worker that checks packages, trains and runs hosted agents',
    )
    .option(
      '--port <N>',
      'port (default: 4477; 0 takes a free one)',
      wholeNumber('port', { least: 0, greatest: 65_535 }),
    )
    .option('--data <DIR>', 'folder of database and packages (default: server in AGENTGYM_HOME)')
    .option('--no-worker', 'check, train and run nothing here: workers run elsewhere')
    .option(
      '--processes <N>',
      'processes that share the port, on PostgreSQL (default: AGENTGYM_PROCESSES, or 1)',
      wholeNumber('processes', processRange),
    )
    .action(async (options, command: Command) => {
      const { serve } = await import('./commands/serve.ts')
      await serve(options, contextOf(command))
    })
  program
    .command('worker')
    .description(
      'check packages, evaluate agents, train and answer calls for a server, with a token of the scope worker in AGENTGYM_TOKEN',
    )
    .option('--server <URL>', 'the server (by default AGENTGYM_SERVER, or where you are logged in)')
    .option('--kinds <KINDS>', 'what to take: jobs, and calls of agents (default: check,evaluate,train,call)')
    .option('--slots <N>', 'jobs side by side (default: what suits the machine)', wholeNumber('slots', slotRange))
    .option('--name <NAME>', "what the server calls it (default: this machine's name)")
    .option(
      '--price <MINOR>',
      "price of an hour of training, in minor units of the server's currency (default: AGENTGYM_WORKER_PRICE_MINOR, or 0)",
      wholeNumber('price', { least: 0, greatest: 1_000_000_000 }),
    )
    .action(async (options, command: Command) => {
      const { worker } = await import('./commands/worker.ts')
      await worker(options, contextOf(command))
    })
}

function collect(value: string, previous: string[] = []): string[] {
  return [...previous, value]
}
