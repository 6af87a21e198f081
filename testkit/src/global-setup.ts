import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { dropTestDatabases } from './postgresql.ts'
import { stopPostgresql } from './postgresql-server.ts'

const prefix = 'agentgym-run-'

/** Gives a run of vitest a folder for what its test files share, and takes it and what runs in it away at the end. */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  await sweep()
  const runFolder = await mkdtemp(join(tmpdir(), `${prefix}${process.pid}-`))
  project.provide('runFolder', runFolder)
  return async () => {
    await dropTestDatabases(runFolder)
    await removeRun(runFolder)
  }
}

async function removeRun(folder: string): Promise<void> {
  await stopPostgresql(join(folder, 'postgresql'))
  await rm(folder, { recursive: true, force: true })
}

/** Runs that were killed could not tidy up. */
async function sweep(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const pid = Number(new RegExp(`^${prefix}(\\d+)-`).exec(name)?.[1])
    if (!pid || isAlive(pid)) continue
    // Another run may be sweeping too.
    await removeRun(join(tmpdir(), name)).catch(() => {})
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
