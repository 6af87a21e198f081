import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { lockFolder } from './folder-lock.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'agentgym-lock-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

// That the lock holds between processes and ends with a killed one: registry/test/database/folder-processes.test.ts.
describe('lockFolder', () => {
  it('creates the folder, and releases it', async () => {
    const path = join(folder, 'a', 'b')
    const unlock = await lockFolder(path)
    await unlock()
    expect(existsSync(join(path, 'holder.json'))).toBe(false)
    await (await lockFolder(path))()
  })

  it('refuses the same process a second time, and names the holder', async () => {
    const unlock = await lockFolder(folder)
    await expect(lockFolder(folder)).rejects.toMatchObject({
      code: 'database_in_use',
      data: { path: folder, pid: process.pid, started: expect.stringMatching(/^20\d\d-/) },
    })
    await unlock()
  })

  it.each(['', 'nonsense', '{"pid": 1, "started": "2020-01-01T00:00:00.000Z"}', JSON.stringify({ pid: process.pid })])(
    'ignores a stale holder file: %j',
    async (note) => {
      writeFileSync(join(folder, 'holder.json'), note)
      await (await lockFolder(folder))()
    },
  )

  it('admits exactly one of several concurrent callers', async () => {
    const tries = await Promise.allSettled(Array.from({ length: 8 }, () => lockFolder(folder)))
    expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    for (const attempt of tries) if (attempt.status === 'fulfilled') await attempt.value()
  })
})
