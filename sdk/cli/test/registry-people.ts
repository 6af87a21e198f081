import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type CliResult,
  runCli,
  startServerProcess as startServer,
  type ServerProcess as TestServer,
} from '@agentgym/testkit/command-line'
import { dataFolder } from '@agentgym/testkit/registry'
import type { Connection } from '../src/account/connection.ts'

/** A real registry with its worker, and people who use it through the real command. */
export type Registry = {
  folder: string
  server: TestServer
  /** What any command printed, apart from what was meant to show a secret. */
  outputs: string[]
  secrets: string[]
  person(username: string): Person
  close(): Promise<void>
}

/** A user with a separate machine: home, working folder and .npmrc. */
export type Person = {
  username: string
  root: string
  work: string
  home: string
  npmrc: string
  run(words: string[], environment?: Record<string, string>): Promise<CliResult>
  /** Gets an account, past the command, and logs in; resolves to the token. */
  join(): Promise<string>
  /** Logs in by the command; resolves to the token. */
  logIn(): Promise<string>
  storedToken(): string
  /** To the server itself, past the command. */
  connection(): Connection
}

export const password = 'a password for tests'

/** `settings` are environment variables of the server, `words` more of its command line. */
export async function openRegistry(settings: Record<string, string> = {}, words: string[] = []): Promise<Registry> {
  const folder = mkdtempSync(join(tmpdir(), 'agentgym-registry-'))
  const data = join(folder, 'data')
  renameSync(await dataFolder(), data)
  const registry: Registry = {
    folder,
    server: await startServer(data, join(folder, 'server-home'), words, settings),
    outputs: [],
    secrets: [password],
    person: (username) => makePerson(registry, username),
    close: async () => {
      await registry.server.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
  return registry
}

function makePerson(registry: Registry, username: string): Person {
  const root = join(registry.folder, username)
  const work = join(root, 'work')
  const home = join(root, 'home')
  const npmrc = join(root, '.npmrc')
  mkdirSync(work, { recursive: true })
  const person: Person = {
    username,
    root,
    work,
    home,
    npmrc,
    run: async (words, environment) => {
      const own = {
        AGENTGYM_HOME: home,
        AGENTGYM_SERVER: registry.server.url,
        AGENTGYM_PASSWORD: password,
        npm_config_userconfig: npmrc,
      }
      const result = await runCli(words, { cwd: work, environment: { ...own, ...environment } })
      if (words[0] !== 'token') registry.outputs.push(result.stdout, result.stderr)
      return result
    },
    join: async () => {
      await openAccount(registry, username)
      return person.logIn()
    },
    logIn: async () => {
      await succeed(person, ['login', '--username', username])
      registry.secrets.push(person.storedToken())
      return person.storedToken()
    },
    storedToken: () =>
      JSON.parse(readFileSync(join(home, 'credentials.json'), 'utf8')).logins[registry.server.url].token,
    connection: () => ({ server: registry.server.url, token: person.storedToken(), tokenSource: 'login' }),
  }
  return person
}

async function openAccount({ server }: Registry, username: string): Promise<void> {
  const { status } = await fetch(`${server.url}/v1/accounts`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username, email: `${username}@example.com`, password }),
  })
  if (status !== 201) throw new Error(`${username} got no account: ${status}`)
}

async function succeed(person: Person, words: string[]): Promise<void> {
  const { status, stderr } = await person.run(words)
  if (status !== 0) throw new Error(`agentgym ${words.join(' ')} ended with ${status}: ${stderr}`)
}
