import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { AgentGymError } from '@agentgym/contract'

const run = promisify(execFile)

/** Writes the database as `snapshot` sees it (`pg_export_snapshot`) to `file`, in pg_dump's custom format. */
export async function dumpDatabase(url: string, { file, snapshot }: { file: string; snapshot: string }): Promise<void> {
  await runTool(url, 'pg_dump', (database) => [
    '--format=custom',
    '--no-owner',
    '--no-privileges',
    `--snapshot=${snapshot}`,
    `--file=${file}`,
    database,
  ])
}

/** Restores such a file into an empty database, in one transaction: all of it or nothing. */
export async function restoreDump(url: string, file: string): Promise<void> {
  const options = ['--no-owner', '--no-privileges', '--exit-on-error', '--single-transaction']
  await runTool(url, 'pg_restore', (database) => [...options, `--dbname=${database}`, file])
}

async function runTool(url: string, program: string, parameters: (database: string) => string[]): Promise<void> {
  const { database, environment } = connectionOf(url)
  try {
    await run(program, parameters(database), { env: { ...process.env, ...environment, LC_ALL: 'C.UTF-8' } })
  } catch (cause) {
    const { code, stderr = '' } = cause as NodeJS.ErrnoException & { stderr?: string }
    if (code === 'ENOENT')
      throw new AgentGymError(
        {
          code: 'setup_incomplete',
          message: `${program} is not installed; backups of PostgreSQL are made with it.`,
          hint: 'Install the client programs of PostgreSQL, no older than the server (Debian: apt-get install postgresql-client).',
          data: { program },
        },
        { cause },
      )
    throw new AgentGymError(
      {
        code: 'backup_failed',
        message: `${program} failed: ${stderr.trim().slice(0, 2_000) || String(code)}`,
        hint: /version mismatch|unsupported version/.test(stderr)
          ? `Install a ${program} no older than the server.`
          : 'Nothing was changed. Fix what it names and run the command again.',
      },
      { cause },
    )
  }
}

/** Other users of this machine see the parameters of a process, so the password goes by the environment. */
function connectionOf(url: string): { database: string; environment: { PGPASSWORD?: string } } {
  const parsed = new URL(url)
  const password = parsed.searchParams.get('password') ?? decodeURIComponent(parsed.password)
  parsed.password = ''
  parsed.searchParams.delete('password')
  return { database: parsed.href, environment: password === '' ? {} : { PGPASSWORD: password } }
}
