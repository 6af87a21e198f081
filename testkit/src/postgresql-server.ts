import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process'
import { existsSync, globSync } from 'node:fs'
import { chmod, chown, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Speed instead of durability: a test's data need not outlive the machine. Deadlocks are found soon. */
const settings = [
  'fsync=off',
  'synchronous_commit=off',
  'full_page_writes=off',
  'max_connections=200',
  'shared_buffers=64MB',
  'deadlock_timeout=200ms',
  'listen_addresses=',
]

/**
 * Makes and starts a PostgreSQL server in `folder`, reached by a socket in it, with our settings and `more`. Resolves to
 * the address of its `postgres`.
 */
export async function startPostgresql(folder: string, more: string[] = []): Promise<string> {
  const bin = findBinaries()
  const user = process.getuid?.() === 0 ? unprivilegedUser() : undefined
  const data = join(folder, 'data')
  await mkdir(folder, { recursive: true })
  // PostgreSQL refuses to run as root, and its user must reach the folder.
  if (user) {
    await chmod(join(folder, '..'), 0o711)
    await chown(folder, user.uid, user.gid)
  }
  await run(
    join(bin, 'initdb'),
    ['-D', data, '-U', 'agentgym', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync', '--no-instructions'],
    { ...user, cwd: folder },
  )
  await runPostgresql(folder, more)
  return `postgresql:///postgres?host=${encodeURIComponent(folder)}&user=agentgym`
}

/** Starts the server in `folder` again, with the same settings and `more`. */
export async function runPostgresql(folder: string, more: string[] = []): Promise<void> {
  const user = process.getuid?.() === 0 ? unprivilegedUser() : undefined
  const data = join(folder, 'data')
  const options = ['-k', folder, ...[...settings, ...more].flatMap((setting) => ['-c', setting])].join(' ')
  // With `-l` the server keeps none of our descriptors, so that pg_ctl's end is seen.
  const parameters = ['-D', data, '-l', join(folder, 'log'), '-o', options, '-w', '-s', 'start']
  await run(join(findBinaries(), 'pg_ctl'), parameters, { ...user, cwd: folder })
}

/** Stops what startPostgresql started in `folder`; does nothing where nothing runs. */
export async function stopPostgresql(folder: string): Promise<void> {
  const data = join(folder, 'data')
  if (!existsSync(join(data, 'postmaster.pid'))) return
  const user = process.getuid?.() === 0 ? unprivilegedUser() : undefined
  await run(join(findBinaries(), 'pg_ctl'), ['-D', data, '-m', 'immediate', '-w', '-s', 'stop'], {
    ...user,
    cwd: folder,
  })
}

/** Runs one of PostgreSQL's programs as the user that the servers of tests run as. */
export async function runPostgresqlProgram(program: string, parameters: string[]): Promise<void> {
  const user = process.getuid?.() === 0 ? unprivilegedUser() : undefined
  await run(join(findBinaries(), program), parameters, { ...user, cwd: '/' })
}

/** Starts a program that, as PostgreSQL, refuses to run as root. */
export function startAsPostgresqlUser(program: string, parameters: string[]): ChildProcess {
  const user = process.getuid?.() === 0 ? unprivilegedUser() : undefined
  return spawn(program, parameters, { ...user, cwd: '/', stdio: 'ignore' })
}

/** Debian keeps them off the PATH, one folder a version; the newest is taken. */
function findBinaries(): string {
  const folders = globSync('/usr/lib/postgresql/*/bin').filter((folder) => existsSync(join(folder, 'initdb')))
  const version = (folder: string) => Number(folder.split('/').at(-2))
  const newest = folders.sort((a, b) => version(b) - version(a))[0]
  if (newest) return newest
  const onPath = process.env.PATH?.split(':').find((folder) => existsSync(join(folder, 'initdb')))
  if (onPath) return onPath
  throw new Error(
    'These tests need PostgreSQL: install it (Debian: apt-get install postgresql), or set AGENTGYM_TEST_DATABASE_URL to a server where databases may be made.',
  )
}

function unprivilegedUser(): { uid: number; gid: number } {
  const id = (flag: string, name: string) =>
    Number(execFileSync('id', [flag, name], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }))
  try {
    return { uid: id('-u', 'postgres'), gid: id('-g', 'postgres') }
  } catch {
    return { uid: id('-u', 'nobody'), gid: id('-g', 'nobody') }
  }
}
