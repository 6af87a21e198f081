// @module-tag full
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { runFolder } from '@agentgym/testkit/run-folder'
import { isLong } from '@agentgym/testkit/tier'
import { expect, it } from 'vitest'
import { openDiskObjectStore } from '../../src/core/storage/disk-object-store.ts'

const writer = fileURLToPath(new URL('./object-writer.ts', import.meta.url))

const kills = isLong ? 50 : 4
const timeout = 60_000 + kills * 5_000

it('a process killed while writing objects leaves only complete ones, including all acknowledged ones', {
  timeout,
}, async () => {
  const folder = await mkdtemp(join(runFolder(), 'objects-'))
  const acknowledged = join(folder, 'acknowledged.txt')
  for (let round = 0; round < kills; round++) {
    const child = fork(writer, [folder, acknowledged], { execArgv: [], stdio: 'inherit' })
    await once(child, 'message')
    await delay(Math.random() * 150)
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  }
  const store = await openDiskObjectStore(folder)
  const kept = new Set<string>()
  for await (const { key } of store.list()) {
    // Throws where it is torn.
    await store.get(key)
    kept.add(key)
  }
  const keys = existsSync(acknowledged) ? readFileSync(acknowledged, 'utf8').split('\n').filter(Boolean) : []
  expect(keys.filter((key) => !kept.has(key))).toEqual([])
  await rm(folder, { recursive: true })
})
