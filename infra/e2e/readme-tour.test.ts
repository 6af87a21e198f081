// @module-tag full
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { codeBlocks } from '../checks/markdown.ts'
import { readRepositoryFile, repositoryRoot } from '../checks/repository-files.ts'

/** What the README's tour tells its reader to type, line by line. */
function tourCommands(): string[] {
  const section = /^## A five-minute tour$(.*?)^## /ms.exec(readRepositoryFile('README.md'))?.[1] ?? ''
  return codeBlocks(section)
    .filter(({ language, marks }) => language === 'sh' && !marks.includes('illustration'))
    .flatMap(({ text }) => text.split('\n'))
    .filter((line) => line !== '')
}

/** Where `agentgym serve --json` says that it serves. What else it says is read and let go. */
async function servingUrl(server: ChildProcess): Promise<string> {
  server.stderr?.resume()
  let output = ''
  return new Promise((resolve, reject) => {
    server.stdout?.setEncoding('utf8').on('data', (text: string) => {
      output += text
      const line = /^\{"event":"serving".*$/m.exec(output)?.[0]
      if (line !== undefined) resolve(JSON.parse(line).url)
    })
    server.once('exit', (status) => reject(new Error(`serve ended with status ${status}: ${output}`)))
  })
}

// Typed in a folder of its own, where only what the tour uses of the clone is there: what it writes stays out of ours.
describe("the README's tour, from top to bottom", () => {
  const folder = mkdtempSync(join(tmpdir(), 'readme-tour-'))
  for (const name of ['agentgym', 'plugins']) symlinkSync(join(repositoryRoot, name), join(folder, name))
  // The commands for a second terminal: here on a free port, and with an empty home folder.
  const environment: NodeJS.ProcessEnv = {
    ...process.env,
    // The scenarios are our own, and a test machine may be a chroot, where bubblewrap cannot run.
    AGENTGYM_WITHOUT_WALLS: 'any',
    AGENTGYM_HOME: join(folder, 'home'),
    AGENTGYM_PASSWORD: 'the password of the tour',
    npm_config_userconfig: join(folder, '.npmrc'),
  }
  let server: ChildProcess | undefined
  beforeAll(async () => {
    server = spawn(join(folder, 'agentgym'), ['serve', '--port', '0', '--json'], { cwd: folder, env: environment })
    environment.AGENTGYM_SERVER = await servingUrl(server)
  }, 120_000)
  afterAll(async () => {
    const ended = server && once(server, 'exit')
    server?.kill('SIGINT')
    await ended
    rmSync(folder, { recursive: true, force: true })
  })

  const commands = tourCommands()
  it('has commands to type', () => expect(commands.length).toBeGreaterThan(5))

  it.each(commands)('%s', { timeout: 300_000 }, (command) => {
    const { status, stdout, stderr } = spawnSync('sh', ['-c', command], {
      cwd: folder,
      env: environment,
      encoding: 'utf8',
    })
    expect(status, `${stdout}\n${stderr}`).toBe(0)
  })
})
