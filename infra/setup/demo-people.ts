// Those who are in the demo, each on a machine of their own, and the command as they type it.
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { styleText } from 'node:util'

export const root = join(import.meta.dirname, '..', '..')
export const command = join(root, 'agentgym')

export type Person = { name: string; folder: string; environment: Record<string, string> }

/** A user with a separate machine: nothing of this machine's user is read or written. */
export function makePerson(folder: string, name: string, url: string): Person {
  const own = join(folder, name)
  mkdirSync(join(own, 'work'), { recursive: true })
  return {
    name,
    folder: join(own, 'work'),
    environment: {
      AGENTGYM_SERVER: url,
      AGENTGYM_HOME: join(own, 'home'),
      // The scenarios are our own; the server's worker says what this machine lacks.
      AGENTGYM_WITHOUT_WALLS: 'any',
      AGENTGYM_PASSWORD: randomBytes(18).toString('base64url'),
      npm_config_userconfig: join(own, '.npmrc'),
    },
  }
}

export async function signUp(person: Person): Promise<void> {
  await run(person, ['signup', '--username', person.name, '--email', `${person.name}@example.com`])
  await run(person, ['login', '--username', person.name])
}

export function sayCommand(person: Person, words: string[]): void {
  const shown = words.map((word) => (word.startsWith(root) ? word.slice(root.length + 1) : word)).join(' ')
  console.log(styleText('dim', `${person.name} $ agentgym ${shown}`))
}

/** Runs a command for a user, shown as they would see it. */
export async function run(person: Person, words: string[], status = 0): Promise<void> {
  sayCommand(person, words)
  const child = start(person, words, 'inherit')
  await ended(child, { words, status })
}

/** Runs a program of this folder where a user works, as their own program would. */
export async function runProgram(person: Person, file: string, words: string[]): Promise<void> {
  console.log(styleText('dim', `${person.name} $ node ${file} ${words.join(' ')}`))
  const env = { ...plainEnvironment(), ...person.environment }
  const program = join(import.meta.dirname, file)
  const child = spawn(process.execPath, [program, ...words], { cwd: person.folder, env, stdio: 'inherit' })
  await ended(child, { words: [file, ...words], status: 0 })
}

export async function runQuietly(person: Person, words: string[]): Promise<string> {
  const child = start(person, words, 'pipe')
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  }
  await ended(child, { words, status: 0, output: () => output })
  return output
}

/** What a command prints under `--json`. */
export async function ask<Value>(
  person: Person,
  words: string[],
  schema: { parse(value: unknown): Value },
): Promise<Value> {
  return schema.parse(JSON.parse(await runQuietly(person, [...words, '--json'])))
}

function start(person: Person, words: string[], stdio: 'inherit' | 'pipe'): ChildProcess {
  return spawn(command, words, { cwd: person.folder, env: { ...plainEnvironment(), ...person.environment }, stdio })
}

/** Our environment without variables for other servers, databases or buckets. */
export function plainEnvironment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !/^(AGENTGYM_|DATABASE_URL$|AWS_)/.test(name))
  return Object.fromEntries(kept)
}

type Expected = { words: string[]; status: number; output?: () => string }

async function ended(child: ChildProcess, { words, status, output = () => '' }: Expected): Promise<void> {
  const found = await new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => resolve(code ?? signal))
  })
  if (found !== status) throw new Error(`${words.join(' ')} ended with ${found}\n${output()}`)
}
