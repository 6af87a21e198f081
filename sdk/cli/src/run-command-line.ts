import { AgentGymError, fileFailure } from '@agentgym/contract'
import { type Command, CommanderError } from 'commander'
import { type CommandContext, type GlobalFlags, type MakeAction, makeContext, version } from './command-context.ts'
import type { CommandIo } from './command-io.ts'
import { makeProgram } from './program.ts'
import { namingProxy } from './proxies/find-proxy.ts'
import { reportFailure } from './report-failure.ts'

const globalFlags = ['--json', '--verbose', '--no-color']

/**
 * Runs one command line and resolves to its exit status: 0 done, 1 the work failed, 2 wrong use or invalid input. Reads and
 * writes nothing of this process but what `io` gives it, and never rejects.
 */
export async function runCommandLine(words: readonly string[], io: CommandIo): Promise<number> {
  const flags = scanFlags(words)
  const form = printsEvents(words) ? 'event' : 'value'
  let context: CommandContext | undefined
  const action: MakeAction =
    (run) =>
    async (...given) => {
      const command = given.pop() as Command
      const options = given.pop()
      const { json = false, verbose = false, color = true } = command.optsWithGlobals<Partial<GlobalFlags>>()
      context = makeContext({ json, verbose, color }, io)
      await run(...([...given, ...(command.options.length > 0 ? [options] : []), context] as never[]))
    }
  if (asksVersion(words)) {
    io.stdout.write(`${version()}\n`)
    return 0
  }
  const program = await makeProgram({ io, flags, action, command: words.find((word) => !word.startsWith('-')) })
  try {
    if (words.every((word) => globalFlags.includes(word)) && !flags.json) {
      program.outputHelp()
      return 0
    }
    io.prepare?.()
    await program.parseAsync(words, { from: 'user' })
    return context?.exitCode ?? 0
  } catch (error) {
    if (error instanceof CommanderError) {
      if (error.exitCode === 0) return 0
      return reportFailure(usageError(error, words, program), flags, form, io)
    }
    return reportFailure(namingProxy(fileFailure(error), io.environment), flags, form, io)
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

function usageError(error: CommanderError, words: readonly string[], program: Command): AgentGymError {
  const [parserMessage, ...rest] = error.message.replace(/^error: /, '').split('\n')
  const suggestion = /Did you mean (.*?)\?\)$/.exec(rest.join(' '))?.[1]
  const command = words.find((word) => !word.startsWith('-'))
  const known = program.commands.find((candidate) => candidate.name() === command)
  const help = `Run agentgym ${known ? `${command} ` : ''}--help for usage.`
  // The parser asks for help to be shown where a command is left out.
  const message = error.code === 'commander.help' ? missingCommand(known) : parserMessage
  return new AgentGymError({
    code: 'usage_invalid',
    message,
    hint: suggestion ? `Did you mean ${suggestion}? ${help}` : help,
    ...(suggestion ? { data: { suggestion } } : {}),
  })
}

function missingCommand(group: Command | undefined): string {
  if (!group) return 'no command given'
  return `agentgym ${group.name()} needs a command: ${group.commands.map((command) => command.name()).join(', ')}`
}
