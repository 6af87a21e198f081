import { readFileSync } from 'node:fs'
import { isAbsolute, relative, resolve } from 'node:path'
import type { CommandIo } from './command-io.ts'
import { describeTerminal, type Terminal } from './terminal/terminal.ts'

export type Runtime = typeof import('@agentgym/runtime')

export type GlobalFlags = { json: boolean; verbose: boolean; color: boolean }

/** What every command gets: where it reads and writes, how, and the runtime when it needs it. */
export type CommandContext = GlobalFlags & {
  io: CommandIo
  /** What stdout can show. */
  terminal: Terminal
  /** Exit status once the command returns: 1 where its work failed without an error. */
  exitCode: 0 | 1
  /** A line for people; nothing under `--json`. */
  print(line: string): void
  /** A JSON value on its own line; nothing without `--json`. */
  printJson(value: unknown): void
  /** A path as the user typed it, made absolute. */
  resolve(path: string): string
  /** A path as the user would type it: relative inside the working folder, absolute otherwise. */
  displayPath(path: string): string
  /** Loaded on first use: `list` or `--help` need neither esbuild nor the learner. */
  runtime(): Promise<Runtime>
}

/** Turns a command into commander's action: it gets its arguments, its options if it has any, and the context. */
export type MakeAction = (run: (...given: never[]) => Promise<void>) => (...given: unknown[]) => Promise<void>

export function makeContext(flags: GlobalFlags, io: CommandIo): CommandContext {
  const { stdout, environment, cwd } = io
  return {
    ...flags,
    io,
    terminal: describeTerminal(stdout, environment, flags),
    exitCode: 0,
    print: (line) => {
      if (!flags.json) stdout.write(`${line}\n`)
    },
    printJson: (value) => {
      if (flags.json) stdout.write(`${JSON.stringify(value)}\n`)
    },
    resolve: (path) => resolve(cwd, path),
    displayPath: (path) => displayPath(path, cwd),
    runtime: () => import('@agentgym/runtime'),
  }
}

function displayPath(path: string, cwd: string): string {
  const absolute = resolve(cwd, path)
  const short = relative(cwd, absolute)
  if (short === '') return '.'
  return short.startsWith('..') || isAbsolute(short) ? absolute : short
}

/** The version of this command. */
export function version(): string {
  return JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version
}
