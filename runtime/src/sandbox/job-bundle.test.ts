import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { jobFile } from './job-bundle.ts'

const execFileAsync = promisify(execFile)
const source = (file: string) => fileURLToPath(new URL(`../${file}`, import.meta.url))
const entry = source('evaluation/golden-batch.process.ts')

test('a process is bundled with the threads that it starts, once', async () => {
  const files = await Promise.all([jobFile(entry), jobFile(entry), jobFile(entry)])
  expect(new Set(files).size).toBe(1)
  const folder = path.dirname(files[0])
  expect(readdirSync(folder).sort()).toEqual(['golden-batch.process.mjs', 'golden-batch.worker.mjs'])
  const thread = /new Worker\d*\(new URL\("\.\/golden-batch\.worker\.mjs", import\.meta\.url\)/
  expect(readFileSync(files[0], 'utf8')).toMatch(thread)
  expect(await jobFile(entry)).toBe(files[0])
})

test('it is bundled again where a file in it is not as it was', async () => {
  const file = await jobFile(entry)
  const recorded = `${path.dirname(path.dirname(file))}/golden-batch.process.json`
  const record = readFileSync(recorded, 'utf8')
  const earlier = JSON.parse(record)
  earlier.inputs[0][2] += 1
  writeFileSync(recorded, JSON.stringify({ ...earlier, folder: 'golden-batch.process-0000000000000000' }))
  // Same contents, same folder.
  expect(await jobFile(entry)).toBe(file)
  expect(readFileSync(recorded, 'utf8')).toBe(record)
  expect(existsSync(file)).toBe(true)
})

test('bundles of other sources stay for a day: jobs of other processes may be starting from them', async () => {
  const cache = path.dirname(path.dirname(await jobFile(entry)))
  const other = (letter: string) => path.join(cache, `golden-batch.process-${letter.repeat(16)}`)
  const [recent, old] = [other('a'), other('b')]
  mkdirSync(recent, { recursive: true })
  mkdirSync(old, { recursive: true })
  const twoDaysAgo = Date.now() / 1000 - 2 * 86_400
  utimesSync(old, twoDaysAgo, twoDaysAgo)
  rmSync(path.join(cache, 'golden-batch.process.json'))
  const file = await jobFile(entry)
  expect([recent, old, file].map((each) => existsSync(each))).toEqual([true, false, true])
  rmSync(recent, { recursive: true })
})

// Its threads are found in no fixed order; a folder that is named by that order was removed while jobs started from it.
test('processes that bundle at the same time come to one folder', async () => {
  const script = `import { jobFile } from ${JSON.stringify(source('sandbox/job-bundle.ts'))}
    console.log(await jobFile(${JSON.stringify(source('training/training.process.ts'))}))`
  rmSync(path.join(path.dirname(path.dirname(await jobFile(entry))), 'training.process.json'), { force: true })
  const runs = Array.from({ length: 4 }, () => execFileAsync(process.execPath, ['--input-type=module', '-e', script]))
  const files = (await Promise.all(runs)).map(({ stdout }) => stdout.trim())
  expect(new Set(files).size).toBe(1)
  expect(existsSync(files[0])).toBe(true)
})

test('entries of others run as they are', async () => {
  const other = source('../test/walls/any.process.ts')
  expect(await jobFile(other)).toBe(other)
})
