import { AgentGymError } from '@agentgym/contract'
import { type Command, CommanderError } from 'commander'
import type { GlobalFlags } from './command-context.ts'
import { makeProgram, version } from './program.ts'
import { reportFailure } from './report-failure.ts'

const globalFlags = ['--json', '--verbose', '--no-color']

/** Runs one command line and returns the exit status: 0 done, 1 the work failed, 2 wrong use or invalid input. */
export async function runCommandLine(words: readonly string[]): Promise<number> {
  survivePipes()
  const flags = scanFlags(words)
  const form = printsEvents(words) ? 'event' : 'value'
  try {
    if (words.every((word) => globalFlags.includes(word)) && !flags.json) {
      makeProgram().outputHelp()
      return 0
    }
    if (asksVersion(words)) {
      process.stdout.write(`${version()}\n`)
      return 0
    }
    await makeProgram().parseAsync(words, { from: 'user' })
    return Number(process.exitCode ?? 0)
  } catch (error) {
    if (error instanceof CommanderError) {
      if (error.exitCode === 0) return 0
      return reportFailure(usageError(error, words), flags, form)
    }
    return reportFailure(error, flags, form)
  }
}

// As the parser would have it, but for `agent publish --version`, which is the version of the agent.
function asksVersion(words: readonly string[]): boolean {
  const [command, subcommand] = words.filter((word) => !word.startsWith('-'))
  if (command === 'agent' && subcommand === 'publish') return false
  const end = words.indexOf('--')
  return words.slice(0, end === -1 ? undefined : end).some((word) => word === '-V' || word === '--version')
}

// `train` and `runs watch` print events, of which an error is one.
function printsEvents(words: readonly string[]): boolean {
  const [command, ...rest] = words.filter((word) => !word.startsWith('-'))
  return command === 'train' || (command === 'runs' && rest[0] === 'watch')
}

// The parser may fail before it has reached these; how the failure is printed must not depend on that.
function scanFlags(words: readonly string[]): GlobalFlags {
  const end = words.indexOf('--')
  const options = end === -1 ? words : words.slice(0, end)
  return {
    json: options.includes('--json'),
    verbose: options.includes('--verbose'),
    color: !options.includes('--no-color'),
  }
}

function usageError(error: CommanderError, words: readonly string[]): AgentGymError {
  const [parserMessage, ...rest] = error.message.replace(/^error: /, '').split('\n')
  const suggestion = /Did you mean (.*?)\?\)$/.exec(rest.join(' '))?.[1]
  const command = words.find((word) => !word.startsWith('-'))
  const known = makeProgram().commands.find((candidate) => candidate.name() === command)
  const help = `agentgym ${known ? `${command} ` : ''}--help shows what there is.`
  // The parser asks for help to be shown where a command is left out.
  const message = error.code === 'commander.help' ? missingCommand(known, words) : parserMessage
  return new AgentGymError({
    code: 'usage_invalid',
    message,
    hint: suggestion ? `Did you mean ${suggestion}? ${help}` : help,
    ...(suggestion ? { data: { suggestion } } : {}),
  })
}

function missingCommand(group: Command | undefined, words: readonly string[]): string {
  const at = words.indexOf('help')
  if (!group) return at >= 0 && at + 1 < words.length ? `unknown command '${words[at + 1]}'` : 'no command was given'
  return `${group.name()} needs one of its commands: ${group.commands.map((command) => command.name()).join(', ')}`
}

// A reader that went away (`agentgym list | head -1`) is no fault: what is left has nobody to be said to. A terminal that
// went away (EIO) comes with SIGHUP: the run under way ends in order, unheard.
function survivePipes(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EIO') return
      if (error.code !== 'EPIPE') throw error
      process.exit(Number(process.exitCode ?? 0))
    })
  }
}
