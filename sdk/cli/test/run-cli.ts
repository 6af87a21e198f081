import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const command = fileURLToPath(new URL('../../../agentgym', import.meta.url))

export type CliResult = { status: number | null; stdout: string; stderr: string; lines: unknown[] }

export type CliOptions = {
  cwd?: string
  environment?: Record<string, string>
  /** Called with each whole line of stdout; `kill` sends a signal. */
  onLine?(line: string, kill: (signal: NodeJS.Signals) => void): void
}

/** Runs the real command as a user's shell would, without a terminal. `lines` is stdout parsed as JSON lines. */
export function runCli(words: string[], { cwd, environment, onLine }: CliOptions = {}): Promise<CliResult> {
  return new Promise((resolve, reject) => {
    const { NO_COLOR, FORCE_COLOR, ...inherited } = process.env
    const env = { ...inherited, LC_ALL: 'C.UTF-8', ...environment }
    const child = spawn(command, words, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
    let stdout = ''
    let stderr = ''
    let seen = 0
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      stdout += chunk
      for (let end = stdout.indexOf('\n', seen); end >= 0; end = stdout.indexOf('\n', seen)) {
        onLine?.(stdout.slice(seen, end), (signal) => child.kill(signal))
        seen = end + 1
      }
    })
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      stderr += chunk
    })
    child.on('error', reject)
    child.on('close', (status) => {
      const lines = words.includes('--json') ? stdout.split('\n').filter(Boolean).map(parseLine) : []
      resolve({ status, stdout, stderr, lines })
    })
  })
}

function parseLine(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    throw new Error(`not a line of JSON: ${line}`)
  }
}
