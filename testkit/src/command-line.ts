import { spawn } from 'node:child_process'
import { EventEmitter } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough, Writable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { fileURLToPath } from 'node:url'
import { runCommandLine } from '../../sdk/cli/src/run-command-line.ts'

const command = fileURLToPath(new URL('../../agentgym', import.meta.url))

export type CliResult = { status: number | null; stdout: string; stderr: string; lines: unknown[] }

export type CliOptions = {
  cwd?: string
  environment?: Record<string, string>
  /** Called with each whole line of stdout; `interrupt` does what Ctrl-C does. */
  onLine?(line: string, interrupt: () => void): void
}

/** Runs a command line in this process, without a terminal. `lines` is stdout parsed as JSON lines. */
export async function runCli(
  words: string[],
  { cwd = ownFolder(), environment, onLine }: CliOptions = {},
): Promise<CliResult> {
  const interrupts = new EventEmitter()
  const exited = Promise.withResolvers<number>()
  const stdout = new CapturedStream(onLine && ((line) => onLine(line, () => interrupts.emit('interrupt'))))
  const stderr = new CapturedStream()
  const { PATH, HOME } = process.env
  const status = await Promise.race([
    exited.promise,
    runCommandLine(words, {
      stdin: new PassThrough().end(),
      stdout,
      stderr,
      // The scenarios are our own, and a test machine may be a chroot, where bubblewrap cannot run.
      environment: {
        AGENTGYM_WITHOUT_WALLS: 'any',
        PATH,
        HOME,
        AGENTGYM_HOME: join(cwd, 'home'),
        LC_ALL: 'C.UTF-8',
        ...environment,
      },
      cwd,
      onInterrupt: (listener) => {
        interrupts.on('interrupt', listener)
        return () => interrupts.off('interrupt', listener)
      },
      exit: exited.resolve,
    }),
  ])
  return { status, stdout: stdout.text, stderr: stderr.text, lines: jsonLines(words, stdout.text) }
}

let folder: string | undefined

/** Of this process alone: what a command leaves in /tmp itself, programs that look for a project above would find. */
function ownFolder(): string {
  if (folder === undefined) {
    const made = mkdtempSync(join(tmpdir(), 'agentgym-cli-'))
    process.once('exit', () => rmSync(made, { recursive: true, force: true }))
    folder = made
  }
  return folder
}

/** As `runCli`, in a process of its own, as a user's shell would: for what only a process does, such as real signals. */
export function runCliProcess(words: string[], { cwd, environment, onLine }: CliOptions = {}): Promise<CliResult> {
  return new Promise((resolve, reject) => {
    const { NO_COLOR, FORCE_COLOR, ...inherited } = process.env
    const env = { ...inherited, LC_ALL: 'C.UTF-8', ...environment }
    const child = spawn(command, words, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
    const stdout = new CapturedStream(onLine && ((line) => onLine(line, () => child.kill('SIGINT'))))
    const stderr = new CapturedStream()
    child.stdout.pipe(stdout)
    child.stderr.pipe(stderr)
    child.on('error', reject)
    child.on('close', (status) =>
      resolve({ status, stdout: stdout.text, stderr: stderr.text, lines: jsonLines(words, stdout.text) }),
    )
  })
}

/** Writes what a template asks its author for in the README and as summary; publishing refuses it before. */
export function writeReadme(scenarioFolder: string, text = 'A scenario of a test.'): void {
  for (const name of ['README.md', 'package.json']) {
    const file = join(scenarioFolder, name)
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll(/\[REPLACE:[^\]]*\]/g, text))
  }
}

class CapturedStream extends Writable {
  text = ''
  readonly #decoder = new StringDecoder('utf8')
  readonly #onLine: ((line: string) => void) | undefined
  #lineStart = 0

  constructor(onLine?: (line: string) => void) {
    super()
    this.#onLine = onLine
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.text += this.#decoder.write(chunk)
    for (let end = this.text.indexOf('\n', this.#lineStart); end >= 0; end = this.text.indexOf('\n', this.#lineStart)) {
      const line = this.text.slice(this.#lineStart, end)
      this.#lineStart = end + 1
      this.#onLine?.(line)
    }
    done()
  }
}

function jsonLines(words: string[], stdout: string): unknown[] {
  return words.includes('--json') ? stdout.split('\n').filter(Boolean).map(parseLine) : []
}

function parseLine(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    throw new Error(`not a line of JSON: ${line}`)
  }
}

const agentgym = fileURLToPath(new URL('../../agentgym', import.meta.url))

export type ServerProcess = {
  url: string
  /** Everything that it and its worker have written, both streams. */
  output(): string
  /** Ends it as Ctrl-C does; resolves to its exit status. */
  stop(): Promise<number | null>
}

/** Starts `agentgym serve` on a free port, as a user would. */
export async function startServerProcess(
  data: string,
  home: string,
  words: string[] = [],
  environment: Record<string, string> = {},
): Promise<ServerProcess> {
  const { DATABASE_URL, AGENTGYM_SERVER, AGENTGYM_TOKEN, ...inherited } = process.env
  const child = spawn(agentgym, ['serve', '--port', '0', '--data', data, '--json', ...words], {
    env: {
      AGENTGYM_WITHOUT_WALLS: 'any',
      ...inherited,
      AGENTGYM_HOME: home,
      AGENTGYM_LOG_LEVEL: 'info',
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  let stdout = ''
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
  const url = await new Promise<string>((resolve, reject) => {
    child.once('error', reject)
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text
      stdout += text
      const line = /^\{"event":"serving".*$/m.exec(stdout)?.[0]
      if (line) resolve(JSON.parse(line).url)
    })
    child.once('exit', (status) => reject(new Error(`serve ended with status ${status}:\n${output}`)))
  })
  return {
    url,
    output: () => output,
    stop: () => {
      child.kill('SIGINT')
      return ended
    },
  }
}
