import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { goodModel, goodModels, goodPolicy } from '../../../../testdata/models/good-models.ts'
import { lengthenNumber, mutateModel, shuffleFields } from '../../../../testdata/models/mutate-model.ts'
import { floatBytes, floats, message, value, weights } from '../../../../testdata/models/onnx-writer.ts'
import { AgentGymError } from '../agent-gym-error.ts'
import { checkModelStructure, checkPublishedModel } from './index.ts'
import { ModelWalk, modelLimits } from './model-failure.ts'
import { readModel } from './read-model.ts'
import { readPackedIntegers } from './wire-reader.ts'
import { FIXED32, packNumbers, VARINT } from './wire-writer.ts'

const SEED = 20261128
const anyGood = fc.constantFrom(...goodModels)
/** What the walk sees in a file: everything that a policy's graph is made of. */
function seen(bytes: Uint8Array) {
  const { graph, opset } = readModel(bytes, new ModelWalk(modelLimits))
  return { graph, opset }
}

function codeOf(check: () => unknown): string {
  try {
    check()
    return 'accepted'
  } catch (error) {
    if (!(error instanceof AgentGymError)) throw error
    return error.code
  }
}

describe('output of the walk', () => {
  it('equals the file if its fields are in order', () => {
    for (const { name, policy, bytes } of goodModels.filter((_, i) => i !== 1)) {
      const canonical = checkModelStructure(bytes, { policy })
      expect(bytes.equals(canonical), name).toBe(true)
      expect(canonical.buffer, 'no view of the file').not.toBe(bytes.buffer)
      checkPublishedModel(bytes, { policy })
    }
  })

  it('sorts fields by number, and unsorted files cannot be published', () => {
    const [, { policy, bytes }] = goodModels
    const canonical = checkModelStructure(bytes, { policy })
    expect(canonical.length).toBe(bytes.length)
    expect(codeOf(() => checkPublishedModel(bytes, { policy }))).toBe('model_not_canonical')
    checkPublishedModel(canonical, { policy })
    expect(seen(canonical)).toEqual(seen(bytes))
  })

  it('keeps uninterpreted data: names, documentation and metadata', () => {
    const bytes = goodModel({
      graph: [[16, message([1, 'graph key'], [2, 'graph value'])]],
      model: [[14, message([1, 'key'], [2, '\u00e4\u{1f600}\ufeff'])]],
      declared: [value('hidden', ['batch', 4])],
    })
    expect(bytes.equals(checkModelStructure(bytes, { policy: goodPolicy }))).toBe(true)
  })

  it('keeps packed and repeated dimensions, and every bit of a weight', () => {
    const [, ...rest] = [floats('w', [2, 4]), floats('b', [4]), floats('w.logits', [4, 2]), floats('w.value', [4, 1])]
    const axis = message([1, 1], [2, 7], [7, Buffer.from([1])], [8, 'axis'])
    const packed = message([1, Buffer.from([2, 4])], [2, 1], [4, weights(8)], [8, 'w'])
    const bytes = goodModel({ initializers: [packed, ...rest, axis] })
    expect(bytes.equals(checkModelStructure(bytes, { policy: goodPolicy }))).toBe(true)
    const odd = floatBytes(-0, 2 ** -149, -(2 ** -126), 3.4028234663852886e38, 0, 1, 1, 1)
    const subnormal = goodModel({ initializers: [floats('w', [2, 4], odd), ...rest, axis] })
    expect(subnormal.equals(checkModelStructure(subnormal, { policy: goodPolicy }))).toBe(true)
  })

  it('does not depend on the order of fields', () => {
    fc.assert(
      fc.property(anyGood, fc.nat(), ({ policy, bytes }, seed) => {
        const canonical = checkModelStructure(bytes, { policy })
        const shuffled = shuffleFields(bytes, seed)
        expect(shuffled.length).toBe(bytes.length)
        expect(Buffer.from(checkModelStructure(shuffled, { policy })).equals(canonical)).toBe(true)
        if (!shuffled.equals(canonical))
          expect(codeOf(() => checkPublishedModel(shuffled, { policy }))).toBe('model_not_canonical')
      }),
      { seed: SEED, numRuns: 300 },
    )
  })

  it('any change of a file is refused, or preserved with a stable output', () => {
    let accepted = 0
    fc.assert(
      fc.property(anyGood, fc.nat(), ({ policy, bytes }, seed) => {
        const changed = mutateModel(bytes, seed)
        const code = codeOf(() => checkModelStructure(changed, { policy }))
        expect(code).toMatch(/^(accepted|model_\w+)$/)
        if (code !== 'accepted') return
        accepted++
        for (const file of [changed, shuffleFields(changed, seed)]) {
          const canonical = checkModelStructure(file, { policy })
          expect(seen(canonical)).toEqual(seen(file))
          expect(Buffer.from(checkModelStructure(canonical, { policy })).equals(canonical)).toBe(true)
          checkPublishedModel(canonical, { policy })
        }
      }),
      { seed: SEED, numRuns: 3_000 },
    )
    expect(accepted).toBeGreaterThan(50)
  })
})

describe('overlong numbers', () => {
  it('are refused everywhere', () => {
    const codes = new Set<string>()
    fc.assert(
      fc.property(anyGood, fc.nat(), ({ policy, bytes }, seed) => {
        const changed = lengthenNumber(bytes, seed)
        if (changed.equals(bytes)) return
        codes.add(codeOf(() => checkModelStructure(changed, { policy })))
      }),
      { seed: SEED, numRuns: 1_000 },
    )
    expect([...codes]).toEqual(['model_malformed'])
  })
})

describe('packed numbers', () => {
  const walk = () => new ModelWalk({ ...modelLimits, fields: 2 ** 30 })

  it("are read as written, in protobuf's number of bytes", () => {
    const edges = [0, 1, 127, 128, 16_383, 16_384, 2 ** 31, 2 ** 32, 2 ** 35, 2 ** 53 - 1, -1, -128, -(2 ** 53) + 1]
    const integers = fc.array(fc.oneof(fc.constantFrom(...edges), fc.maxSafeInteger()), { maxLength: 20 })
    fc.assert(
      fc.property(integers, (values) => {
        const bytes = packNumbers(VARINT, values)
        const read: number[] = []
        readPackedIntegers(walk(), bytes, 'a list', (number) => read.push(number))
        expect(read).toEqual(values)
        const needed = (number: number) =>
          number < 0 ? 10 : Math.max(1, Math.ceil(BigInt(number).toString(2).length / 7))
        expect(bytes.length).toBe(values.reduce((sum, number) => sum + needed(number), 0))
      }),
      { seed: SEED },
    )
  })

  it('of floats keep every bit', () => {
    const values = [0, -0, 2 ** -149, Math.fround(0.1), -3.4028234663852886e38]
    expect(Buffer.from(packNumbers(FIXED32, values))).toEqual(floatBytes(...values))
  })
})
