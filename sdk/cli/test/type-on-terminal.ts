import { spawn } from 'node:child_process'

export type Typing = {
  keys?: string
  /** Typed as soon as this has been drawn, after `before` has happened. */
  when?: string
  before?: () => Promise<unknown>
  environment?: Record<string, string>
  cwd?: string
}

/** Runs words of a shell on a real pseudo-terminal of 80 columns, which util-linux's `script` opens. Gives back every byte. */
export function typeOnTerminal(words: string, options: Typing): Promise<string> {
  const command = `stty cols 80 rows 24; exec ${words}`
  const { NO_COLOR, FORCE_COLOR, ...inherited } = { ...process.env, ...options.environment }
  const env = { ...inherited, TERM: 'xterm-256color', LC_ALL: 'C.UTF-8', SHELL: '/bin/sh' }
  const child = spawn('script', ['--quiet', '--return', '--command', command, '/dev/null'], { env, cwd: options.cwd })
  return new Promise((resolve, reject) => {
    let output = ''
    let typed = false
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk
      if (typed || options.keys === undefined || !output.includes(options.when ?? '')) return
      typed = true
      const before = options.before?.() ?? Promise.resolve()
      before.then(() => child.stdin.write(options.keys ?? ''), reject)
    })
    child.on('error', reject)
    child.on('close', () => resolve(output))
  })
}
