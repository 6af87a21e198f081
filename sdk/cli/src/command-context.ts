import type { Command } from 'commander'
import { describeTerminal, type Terminal } from './terminal/terminal.ts'

export type Runtime = typeof import('@agentgym/runtime')

export type GlobalFlags = { json: boolean; verbose: boolean; color: boolean }

/** What every command gets: where it writes, how, and the runtime when it needs it. */
export type CommandContext = GlobalFlags & {
  /** Results and progress. */
  stdout: NodeJS.WriteStream
  terminal: Terminal
  /** A line for people; nothing under `--json`. */
  say(line: string): void
  /** A JSON value on its own line; nothing without `--json`. */
  sayJson(value: unknown): void
  /** Loaded on first use: `list` or `--help` need neither esbuild nor the learner. */
  runtime(): Promise<Runtime>
}

function makeContext(flags: GlobalFlags): CommandContext {
  const { stdout } = process
  return {
    ...flags,
    stdout,
    terminal: describeTerminal(stdout, process.env, flags),
    say: (line) => {
      if (!flags.json) stdout.write(`${line}\n`)
    },
    sayJson: (value) => {
      if (flags.json) stdout.write(`${JSON.stringify(value)}\n`)
    },
    runtime: () => import('@agentgym/runtime'),
  }
}

/** The context of a command as it was typed. */
export function contextOf(command: Command): CommandContext {
  const flags = command.optsWithGlobals<Partial<GlobalFlags>>()
  return makeContext({ json: flags.json ?? false, verbose: flags.verbose ?? false, color: flags.color ?? true })
}
