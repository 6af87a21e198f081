import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { lockRun } from './run-folder.ts'

let root: string
let out: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'agentgym-lock-'))
  out = join(root, 'agent')
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

describe('lockRun', () => {
  it('keeps a second run out until the first is done, and leaves nothing behind', async () => {
    const release = await lockRun(out)
    await expect(lockRun(out)).rejects.toMatchObject({ code: 'usage_invalid', data: { path: out, pid: process.pid } })
    await release()
    expect(existsSync(out)).toBe(false)
    await (await lockRun(out))()
  })

  it('keeps what the run wrote', async () => {
    const release = await lockRun(out)
    writeFileSync(join(out, 'agent.json'), '{}')
    await release()
    expect(existsSync(join(out, 'agent.json'))).toBe(true)
    expect(existsSync(join(out, '.agentgym'))).toBe(false)
  })

  it.each(['', '999999999', 'nonsense', '-1'])('takes over a lock that says %j', async (holder) => {
    mkdirSync(join(out, '.agentgym'), { recursive: true })
    writeFileSync(join(out, '.agentgym/lock'), holder)
    await (await lockRun(out))()
  })
})
