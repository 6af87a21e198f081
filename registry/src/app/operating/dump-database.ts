import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { AgentGymError } from '@agentgym/contract'

/** Passes the database as `snapshot` sees it (`pg_export_snapshot`) to `write`, in pg_dump's custom format. */
export async function dumpDatabase(
  url: string,
  snapshot: string,
  write: (dump: Readable) => Promise<void>,
): Promise<void> {
  const options = ['--format=custom', '--no-owner', '--no-privileges', `--snapshot=${snapshot}`]
  await runTool(url, 'pg_dump', {
    parameters: (database) => [...options, database],
    work: ({ stdout }) => write(stdout),
  })
}

/** Restores such a dump into an empty database, in one transaction: all of it or nothing. */
export async function restoreDump(url: string, dump: Readable): Promise<void> {
  const options = ['--no-owner', '--no-privileges', '--exit-on-error', '--single-transaction']
  await runTool(url, 'pg_restore', {
    parameters: (database) => [...options, `--dbname=${database}`],
    work: ({ stdin }) => pipeline(dump, stdin),
  })
}

type Tool = ChildProcessByStdio<Writable, Readable, Readable>
type ToolUse = { parameters: (database: string) => string[]; work: (tool: Tool) => Promise<void> }

/** Runs `work` with a program's streams; whichever of the two fails first ends the other. */
async function runTool(url: string, program: string, { parameters, work }: ToolUse): Promise<void> {
  const { database, environment } = connectionOf(url)
  const env = { ...process.env, ...environment, LC_ALL: 'C.UTF-8' }
  const tool = spawn(program, parameters(database), { stdio: 'pipe', env })
  let stderr = ''
  tool.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-20_000)
  })
  const ended = once(tool, 'close')
  // Its own end says more than a broken pipe does.
  const worked = work(tool).catch((error) => {
    if (error.code === 'EPIPE' || error.code === 'ERR_STREAM_PREMATURE_CLOSE') return
    tool.kill()
    throw error
  })
  const [end, done] = await Promise.allSettled([ended, worked])
  if (done.status === 'rejected') throw done.reason
  try {
    if (end.status === 'rejected') throw end.reason
    const [code, signal] = end.value
    if (code !== 0) throw Object.assign(new Error(`${program} failed`), { code: signal ?? code })
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
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
