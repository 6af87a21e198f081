import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadModelSession } from '@agentgym/agent/engine'
import { checkModelStructure } from '@agentgym/contract/model'
import { InferenceSession, Tensor } from 'onnxruntime-node'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { goodModel, goodPolicy } from '../../../testdata/models/good-models.ts'
import { random } from '../../../testdata/models/hostile-models.ts'
import { polyglot } from '../../../testdata/models/polyglot.ts'

let folder: string
let ort: Buffer
let file: Buffer

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'agentgym-ort-'))
  const path = join(folder, 'random.ort')
  await InferenceSession.create(random, {
    optimizedModelFilePath: path,
    graphOptimizationLevel: 'disabled',
    extra: { session: { save_model_format: 'ORT' } },
  })
  ort = await readFile(path)
  file = polyglot(ort)
})
afterAll(() => rm(folder, { recursive: true }))

async function logits(session: InferenceSession): Promise<number[]> {
  const observations = new Tensor('float32', Float32Array.of(0.5, -1), [1, 2])
  return Array.from((await session.run({ obs: observations })).logits.data as Float32Array)
}
const asOnnx = { extra: { session: { load_model_format: 'ONNX' } } }

describe('a file that is two models', () => {
  test('is one of random operators to ONNX Runtime, which guesses its format', async () => {
    const session = await InferenceSession.create(file)
    expect(await logits(session)).not.toEqual(await logits(session))
  })

  test('is the good model to ONNX Runtime that is told the format', async () => {
    const session = await InferenceSession.create(file, asOnnx)
    expect(await logits(session)).toEqual(await logits(await InferenceSession.create(goodModel())))
  })

  test('is refused by the walk', () => {
    const walk = (bytes: Uint8Array) => () => checkModelStructure(bytes, { policy: goodPolicy }, { bytes: 2 ** 26 })
    expect(walk(file)).toThrowError(expect.objectContaining({ code: 'model_format_forbidden' }))
    expect(walk(ort)).toThrowError(expect.objectContaining({ code: 'model_format_forbidden' }))
    // Without the mark it is still a number in more bytes than it needs.
    const unmarked = Buffer.from(file)
    unmarked[7]++
    expect(walk(unmarked)).toThrowError(expect.objectContaining({ code: 'model_malformed' }))
    unmarked.set([0x08, 0x08, 0x12], 1)
    expect(unmarked.subarray(1).equals(walk(unmarked.subarray(1))())).toBe(true)
  })

  test('is not loaded where the walk was left out', () => {
    const options = { batch: 2, walk: false }
    expect(() => loadModelSession(ort, goodPolicy, options)).toThrowError(
      expect.objectContaining({ code: 'model_load_failed' }),
    )
    const session = loadModelSession(file, goodPolicy, options)
    const run = () => {
      session.run(Float32Array.of(0.5, -1, 1, 1))
      return [...session.distribution]
    }
    expect(run()).toEqual(run())
  })

  test('is not loaded by path either', async () => {
    const path = join(folder, 'model.onnx')
    await writeFile(path, file)
    const session = await InferenceSession.create(path, asOnnx)
    expect(await logits(session)).toEqual(await logits(session))
  })
})
