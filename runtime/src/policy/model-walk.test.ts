import { loadModelSession } from '@agentgym/agent/engine'
import { AgentGymError, type PolicySpec } from '@agentgym/contract'
import { checkModelStructure, checkPublishedModel } from '@agentgym/contract/model'
import { isLong } from '@agentgym/testkit/tier'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { goodModels } from '../../../testdata/models/good-models.ts'
import { mutateModel, shuffleFields, withoutAttributes } from '../../../testdata/models/mutate-model.ts'
import { superviseJob } from '../sandbox/supervisor.ts'
import { exportModel } from './policy-graph.ts'
import type { LoadedModels, ModelsToLoad } from './testing/load-models.process.ts'
import { decodeModel } from './testing/onnx-schema.ts'
import { policyCases, randomWeights, testRandom } from './testing/policy-cases.ts'

const SEED = 20261128
const own = policyCases().map(({ name, spec }) => ({
  name,
  spec,
  bytes: exportModel(spec, randomWeights(spec, testRandom(SEED))),
}))

function codeOf(bytes: Uint8Array, policy: PolicySpec): string {
  try {
    checkModelStructure(bytes, { policy })
    return 'accepted'
  } catch (error) {
    if (!(error instanceof AgentGymError)) throw error
    return error.code
  }
}

describe('the walk and our own exports', () => {
  test.each(own)('$name', ({ bytes, spec }) => {
    checkModelStructure(bytes, { policy: spec })
  })

  test('writes them as they are, so that they may be published', () => {
    for (const { name, bytes, spec } of own) {
      const written = checkModelStructure(bytes, { policy: spec })
      expect(Buffer.from(bytes).equals(written), name).toBe(true)
      checkPublishedModel(bytes, { policy: spec })
    }
  })

  test('what it writes of any file is the same message to another reader of protobuf', () => {
    const models = [...goodModels, ...own.map(({ spec, bytes }) => ({ policy: spec, bytes }))]
    let compared = 0
    const change = fc.record({ model: fc.nat(models.length - 1), seed: fc.nat() })
    fc.assert(
      fc.property(change, ({ model, seed }) => {
        const { policy, bytes } = models[model]
        const mutant = mutateModel(bytes, seed)
        if (codeOf(mutant, policy) !== 'accepted') return
        compared++
        const shuffled = shuffleFields(mutant, seed)
        for (const file of [mutant, shuffled])
          expect(decodeModel(checkModelStructure(file, { policy }))).toEqual(decodeModel(file))
      }),
      { numRuns: 2_000, seed: SEED },
    )
    expect(compared).toBeGreaterThan(30)
  })

  test('refuses a model of another policy', () => {
    for (const { bytes, spec } of own) {
      for (const other of own) {
        const same = (side: 'observation' | 'action') => JSON.stringify(other.spec[side]) === JSON.stringify(spec[side])
        if (same('observation') && same('action')) continue
        // Bounds of a box and starts of a choice are no part of the graph's inputs and outputs.
        const shape = ({ observation, action }: PolicySpec) =>
          JSON.stringify([
            observation.map(({ name, size }) => [name, size]),
            action.map(({ name, kind, size, counts }) => [name, kind, size, counts]),
          ])
        if (shape(other.spec) === shape(spec)) continue
        expect(codeOf(bytes, other.spec)).toMatch(/^model_(input|output)_mismatch$/)
      }
    }
  })

  test('refuses weights that are not finite', () => {
    const [{ spec }] = own
    for (const value of [Number.NaN, Number.POSITIVE_INFINITY]) {
      const weights = randomWeights(spec, testRandom(SEED))
      weights[7] = value
      expect(codeOf(exportModel(spec, weights), spec)).toBe('model_weights_not_finite')
    }
  })

  test('comes before ONNX Runtime, whoever loads the model', () => {
    const [{ spec }] = own
    expect(() => loadModelSession(Buffer.from('not a model'), spec, { batch: 1 })).toThrowError(
      expect.objectContaining({ code: expect.stringMatching(/^model_(malformed|truncated|field_unknown)$/) }),
    )
  })
})

describe('what passes the walk, ONNX Runtime loads and runs', () => {
  function load(models: ModelsToLoad): Promise<LoadedModels> {
    return superviseJob({
      entry: new URL('./testing/load-models.process.ts', import.meta.url),
      job: models,
      identity: { name: '@t/mutants', version: '1.0.0', hash: '' },
      limits: { processMemoryMb: 2_048, silenceMs: 50_000 },
    }) as Promise<LoadedModels>
  }

  test('models of other exporters, for any size of the batch', async () => {
    const loaded = await load(goodModels.map(({ policy, bytes }) => ({ policy, bytes })))
    expect(loaded).toEqual(goodModels.map(() => 'ran'))
  })

  test('models without one of their attributes: it has a default, or the walk refuses the node', async () => {
    const models = goodModels.flatMap(({ policy, bytes }) =>
      withoutAttributes(bytes).map((changed) => ({ policy, bytes: changed })),
    )
    const accepted = models.filter(({ policy, bytes }) => codeOf(bytes, policy) === 'accepted')
    expect(accepted.length).toBeGreaterThan(5)
    expect(models.length - accepted.length).toBeGreaterThan(5)
    expect(new Set(await load(accepted))).toEqual(new Set(['ran']))
  })

  test('good models with changes, in a process that may be killed', { timeout: 3_600_000 }, async () => {
    const models = [...goodModels, ...own.map(({ spec, bytes }) => ({ policy: spec, bytes }))]
    const accepted: ModelsToLoad = []
    const change = fc.record({ model: fc.nat(models.length - 1), seed: fc.nat() })
    fc.assert(
      fc.property(change, ({ model, seed }) => {
        const { policy, bytes } = models[model]
        const mutant = mutateModel(bytes, seed)
        if (codeOf(mutant, policy) === 'accepted' && !mutant.equals(bytes)) accepted.push({ policy, bytes: mutant })
      }),
      { numRuns: isLong ? 200_000 : 3_000, ...(isLong ? {} : { seed: SEED }) },
    )
    expect(accepted.length).toBeGreaterThan(20)
    for (let at = 0; at < accepted.length; at += 200) {
      const batch = accepted.slice(at, at + 200)
      const loaded = await load(batch)
      // A size or an operator that ONNX Runtime judges otherwise is refused by it, in so many words.
      expect(new Set(loaded)).toEqual(
        new Set(['ran', ...loaded.filter((code) => /^model_(load|run)_failed$/.test(code))]),
      )
      expect(loaded.filter((code) => code === 'ran').length).toBeGreaterThan(0.9 * batch.length)
    }
  })
})
