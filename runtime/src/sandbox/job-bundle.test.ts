import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { jobFile } from './job-bundle.ts'

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

test('entries of others run as they are', async () => {
  const other = source('../test/walls/any.process.ts')
  expect(await jobFile(other)).toBe(other)
})
