// @module-tag full
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createPgliteFolder } from '@agentgym/testkit/databases'
import { isLong } from '@agentgym/testkit/tier'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openDatabase } from '../../src/core/database/open-database.ts'

const writer = fileURLToPath(new URL('./folder-writer.ts', import.meta.url))

const kills = isLong ? 50 : 2

// Making and opening databases takes seconds, more so on a busy machine.
describe('a PGlite folder and several processes', { timeout: 120_000 + kills * 10_000 }, () => {
  let folder: string
  let acknowledged: string
  let running: ChildProcess | undefined
  beforeEach(async () => {
    folder = (await createPgliteFolder()).folder
    acknowledged = join(folder, 'acknowledged.txt')
  })
  afterEach(() => running?.kill('SIGKILL'))

  async function startWriter(): Promise<ChildProcess> {
    running = fork(writer, [folder, acknowledged], { execArgv: [], stdio: 'inherit' })
    const [message] = await Promise.race([once(running, 'message'), once(running, 'exit')])
    expect(message).toBe('open')
    return running
  }
  async function kill(child: ChildProcess): Promise<void> {
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  }
  const acknowledgements = () =>
    existsSync(acknowledged) ? readFileSync(acknowledged, 'utf8').split('\n').filter(Boolean) : []

  it('refuses the second process, names the first, and does not disturb it', async () => {
    const child = await startWriter()
    await expect(openDatabase({ folder })).rejects.toMatchObject({
      code: 'database_in_use',
      message: expect.stringContaining(`process ${child.pid}, started 2`),
      data: { path: folder, pid: child.pid },
    })
    const before = acknowledgements().length
    await expect.poll(() => acknowledgements().length, { timeout: 30_000 }).toBeGreaterThan(before + 5)
  })

  it('starts over if the process was killed while creating the database', async () => {
    folder = await mkdtemp(join(folder, 'empty-'))
    running = fork(writer, [folder, acknowledged], { execArgv: [], stdio: 'inherit' })
    await expect
      .poll(() => existsSync(join(folder, 'pglite.new', 'PG_VERSION')), { interval: 5, timeout: 30_000 })
      .toBe(true)
    await kill(running)
    expect(existsSync(join(folder, 'pglite'))).toBe(false)
    await kill(await startWriter())
  })

  it('reports a damaged database, and releases the folder', async () => {
    await truncate(join(folder, 'pglite/global/pg_control'))
    for (const _ of ['first', 'second'])
      await expect(openDatabase({ folder })).rejects.toMatchObject({ code: 'database_damaged', data: { path: folder } })
  })

  it('keeps every acknowledged transaction through kill -9, and admits the next process immediately', async () => {
    for (let round = 1; round <= kills; round++) {
      const child = await startWriter()
      const before = acknowledgements().length
      await expect.poll(() => acknowledgements().length, { interval: 5, timeout: 30_000 }).toBeGreaterThan(before)
      await delay(Math.random() * 100)
      await kill(child)
    }
    const database = await openDatabase({ folder })
    const { rows } = await database.execute(
      'select subject, count(*) as rows from audit group by subject order by min(id)',
    )
    await database.close()
    expect(rows.filter((row) => row.rows !== 2)).toEqual([])
    const kept = new Set(rows.map(({ subject }) => subject))
    expect(acknowledgements().filter((number) => !kept.has(number))).toEqual([])
    // Written and killed before it was acknowledged: at most one a round.
    expect(kept.size - acknowledgements().length).toBeLessThanOrEqual(kills)
  })
})
