// @module-tag full
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, expect, it } from 'vitest'
import { supportEpisodes, supportFormats } from './logged-support.ts'

const folder = mkdtempSync(join(tmpdir(), 'agentgym-large-log-'))
afterAll(() => rmSync(folder, { recursive: true }))
const script = fileURLToPath(new URL('read-log.process.ts', import.meta.url))

it('a log of 200 MB is read in a heap of 96 MB', async () => {
  const path = join(folder, 'log.jsonl')
  const file = await open(path, 'w')
  // Long prompts, as logs have them: they are what fills the file.
  const prompt = 'You are a support agent. '.repeat(400)
  let [bytes, episodes] = [0, 0]
  for (let part = 0; bytes < 200e6; part += 1) {
    const played = supportEpisodes(1_000, part)
    const text = supportFormats.messages(played).replaceAll('You are a support agent.', prompt)
    bytes += (await file.write(text)).bytesWritten
    episodes += played.length
  }
  await file.close()
  const { stdout } = await promisify(execFile)(process.execPath, ['--max-old-space-size=96', script, path])
  const found = JSON.parse(stdout)
  expect(found.episodes).toBe(episodes)
  expect(found.requests).toBeGreaterThan(200)
  // The runtime itself takes about 100 MB.
  expect(found.megabytes).toBeLessThan(350)
})
