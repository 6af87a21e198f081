import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const command = fileURLToPath(new URL('../../../agentgym', import.meta.url))

export type TestServer = {
  url: string
  /** Everything that it and its worker have written, both streams. */
  output(): string
  /** Ends it as Ctrl-C does; resolves to its exit status. */
  stop(): Promise<number | null>
}

/** Starts `agentgym serve` on a free port, as a user would. */
export async function startServer(data: string, home: string, words: string[] = []): Promise<TestServer> {
  const { DATABASE_URL, AGENTGYM_SERVER, AGENTGYM_TOKEN, ...inherited } = process.env
  const child = spawn(command, ['serve', '--port', '0', '--data', data, '--json', ...words], {
    env: { ...inherited, AGENTGYM_HOME: home, AGENTGYM_LOG_LEVEL: 'info' },
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
