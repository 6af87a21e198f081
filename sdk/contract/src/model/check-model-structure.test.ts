import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { badModels } from '../../../../testdata/models/bad-models.ts'
import { goodModel, goodModels, goodPolicy } from '../../../../testdata/models/good-models.ts'
import { heavyModels } from '../../../../testdata/models/heavy-models.ts'
import { attribute, floats, integers, node, value } from '../../../../testdata/models/onnx-writer.ts'
import { AgentGymError } from '../agent-gym-error.ts'
import { checkModelStructure, type ModelLimits } from './index.ts'
import { operators } from './operators.ts'

const folder = join(import.meta.dirname, '../../../../testdata/models')

function codeOf(bytes: Uint8Array, limits: Partial<ModelLimits> = {}, policy = goodPolicy): string {
  try {
    checkModelStructure(bytes, { policy }, limits)
    return 'accepted'
  } catch (error) {
    if (!(error instanceof AgentGymError)) throw error
    expect(error.message).toMatch(/^model\.onnx: .{8,600}\.$/s)
    expect(error.message).not.toMatch(/[\p{Cc}\p{Cf}]/u)
    expect(error.hint).toMatch(/\S/)
    expect(error.data).toMatchObject({ file: 'model.onnx' })
    return error.code
  }
}

describe('models that pass', () => {
  it.each(goodModels.map((model) => [model.name, model]))('%s', (_, { policy, bytes }) => {
    expect(codeOf(bytes, {}, policy)).toBe('accepted')
  })

  it('together use every allowed operator', () => {
    const text = goodModels.map(({ bytes }) => bytes.toString('latin1')).join()
    expect(
      [...operators.keys()].filter((name) => !text.includes(`\x22${String.fromCharCode(name.length)}${name}`)),
    ).toEqual([])
  })

  it('can be a view into a larger buffer', () => {
    const padded = Buffer.concat([Buffer.alloc(3), goodModel(), Buffer.alloc(5)])
    expect(codeOf(new Uint8Array(padded.buffer, padded.byteOffset + 3, padded.length - 8))).toBe('accepted')
  })
})

describe('testdata/models', () => {
  it('matches the output of make.ts', () => {
    const files = readdirSync(folder).filter((file) => file.endsWith('.onnx'))
    expect(files.sort()).toEqual([...badModels.map(({ name }) => `${name}.onnx`), 'good.onnx'].sort())
    for (const { name, bytes } of badModels)
      expect(readFileSync(join(folder, `${name}.onnx`)).equals(bytes), name).toBe(true)
    expect(readFileSync(join(folder, 'good.onnx')).equals(goodModel())).toBe(true)
  })

  it('covers every code of the walk except for size and published bytes', () => {
    const codes = new Set(badModels.map(({ code }) => code))
    expect([...codes].every((code) => code.startsWith('model_'))).toBe(true)
    expect(codes.size).toBe(30)
  })

  it.each(badModels.map(({ name, code, why }) => [name, code, why]))('%s: %s (%s)', (name, code) => {
    expect(codeOf(readFileSync(join(folder, `${name}.onnx`)))).toBe(code)
  })
})

describe('limits', () => {
  it('bytes, before anything is read', () => {
    expect(codeOf(goodModel(), { bytes: goodModel().length })).toBe('accepted')
    expect(codeOf(goodModel(), { bytes: goodModel().length - 1 })).toBe('model_too_large')
  })

  it.each<[keyof ModelLimits, number, string]>([
    ['fields', 86, 'model_too_many_parts'],
    ['nodes', 4, 'model_too_many_parts'],
    ['parts', 4, 'model_too_many_parts'],
    ['rank', 1, 'model_too_many_parts'],
    ['depth', 3, 'model_nesting_too_deep'],
    ['nameBytes', 7, 'model_string_too_long'],
    ['elements', 3, 'model_intermediate_too_large'],
    ['elementsTotal', 13, 'model_intermediate_too_large'],
    // Layers of 2 × 4, 4 × 2 and 4 × 1, each computed for 16 columns, and 4 + 4 + 2 + 1 + 1 elements.
    ['work', 16 * (2 + 4 + 4) + 64 * 12 - 1, 'model_work_too_large'],
  ])('%s', (limit, value, code) => {
    expect(codeOf(goodModel(), { [limit]: value })).toBe(code)
    // One more is enough for all but the length of names.
    expect(codeOf(goodModel(), { [limit]: limit === 'nameBytes' ? 512 : value + 1 })).toBe('accepted')
  })

  it('the size of an observation, which is not in the file', () => {
    const policy = { ...goodPolicy, observation: [{ ...goodPolicy.observation[0], size: 1e12 }] }
    const bytes = goodModel({
      nodes: [
        node('ReduceMean', ['obs'], 'mean', [attribute('axes', [1])]),
        node('Gemm', ['mean', 'w.logits'], 'logits'),
        node('Squeeze', ['mean', 'axis'], 'value'),
      ],
      initializers: [floats('w.logits', [1, 2]), integers('axis', [1])],
      inputs: [value('obs', ['batch', 1e12])],
    })
    expect(codeOf(bytes, {}, policy)).toBe('model_intermediate_too_large')
  })

  it.each(heavyModels)('$name: $fits fit, $tooMuch do not ($code)', ({ build, fits, tooMuch, code }) => {
    const accepted = build(fits)
    expect(codeOf(accepted.bytes, {}, accepted.policy)).toBe('accepted')
    const refused = build(tooMuch)
    expect(codeOf(refused.bytes, {}, refused.policy)).toBe(code)
  })

  it('messages truncate names to one line', () => {
    const name = `\u202e${'x'.repeat(400)}`
    const bytes = goodModel({ inputs: [value(name, ['batch', 2])] })
    expect(() => checkModelStructure(bytes, { policy: goodPolicy })).toThrow(/"\ufffdx{79}…"/)
  })
})

describe('attributes without a default', () => {
  const required: [string, string, string[]][] = [
    ['Concat', 'axis', ['obs', 'obs']],
    ['Cast', 'to', ['obs']],
    ['MaxPool', 'kernel_shape', ['obs']],
    ['AveragePool', 'kernel_shape', ['obs']],
    ['Constant', 'value', []],
    ['ConstantOfShape', 'value', ['axis']],
  ]

  it.each(required)('%s is refused without %s', (operator, name, inputs) => {
    const bytes = goodModel({ nodes: [node(operator, inputs, 'features')] })
    expect(codeOf(bytes)).toBe('model_attribute_invalid')
    expect(() => checkModelStructure(bytes, { policy: goodPolicy })).toThrow(`the attribute "${name}"`)
  })

  it('are all in this list', () => {
    const listed = [...operators].flatMap(([name, { required = [] }]) => required.map((each) => `${name} ${each}`))
    expect(listed.sort()).toEqual(required.map(([operator, name]) => `${operator} ${name}`).sort())
  })
})

describe('shapes match ONNX', () => {
  /** Whether `nodes` make of `obs` [batch, size] the declared `dims` of `x`. */
  function makes(size: number, dims: (number | string)[], nodes: Buffer[], initializers: Buffer[] = []): string {
    const policy = { ...goodPolicy, observation: [{ ...goodPolicy.observation[0], size }] }
    const bytes = goodModel({
      nodes: [
        ...nodes,
        node('Gemm', ['obs', 'w.logits'], 'logits'),
        node('MatMul', ['obs', 'w.value'], 'v'),
        node('Squeeze', ['v', 'axis'], 'value'),
      ],
      initializers: [
        floats('w.logits', [size, 2]),
        floats('w.value', [size, 1]),
        integers('axis', [1]),
        ...initializers,
      ],
      inputs: [value('obs', ['batch', size])],
      declared: [value('x', dims)],
    })
    return codeOf(bytes, {}, policy)
  }

  it.each([
    [0, 10, 1, 10],
    [2, 10, 3, 3],
    [-4, -1, 1, 3],
    [9, 0, -4, 3],
    [-1, -11, -1, 10],
    [0, 2 ** 40, 1, 10],
    [-100, 3, 1, 3],
  ])('a slice from %i to %i by %i leaves %i of 10', (start, end, step, left) => {
    const bounds = [integers('s', [start]), integers('e', [end]), integers('by', [step])]
    const nodes = [node('Slice', ['obs', 's', 'e', 'axis', 'by'], 'x')]
    expect(makes(10, ['n', left], nodes, bounds)).toBe('accepted')
    expect(makes(10, ['n', left + 1], nodes, bounds)).toBe('model_shape_mismatch')
  })

  it.each([
    // Length, kernel, stride, dilation, pads before and after; positions.
    [10, 3, 1, 1, 0, 0, 8],
    [10, 3, 1, 1, 1, 1, 10],
    [10, 3, 2, 1, 1, 0, 5],
    [10, 2, 1, 4, 0, 0, 6],
    [10, 10, 5, 1, 0, 0, 1],
  ])(
    'a window over %i: kernel %i, stride %i, dilation %i, pads %i and %i',
    (length, kernel, stride, dilation, before, after, positions) => {
      const attributes = [
        attribute('strides', [stride]),
        attribute('dilations', [dilation]),
        attribute('pads', [before, after]),
      ]
      const nodes = [node('Unsqueeze', ['obs', 'axis'], 'u'), node('Conv', ['u', 'k'], 'x', attributes)]
      expect(makes(length, ['n', 3, positions], nodes, [floats('k', [3, 1, kernel])])).toBe('accepted')
      expect(makes(length, ['n', 3, positions + 1], nodes, [floats('k', [3, 1, kernel])])).toBe('model_shape_mismatch')
    },
  )
})
