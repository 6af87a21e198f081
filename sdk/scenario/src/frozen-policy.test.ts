import { describe, expect, test } from 'vitest'
import { box, discrete, type FrozenWeights, frozenPolicy } from './index.ts'

const base64 = (...numbers: number[]) => Buffer.from(Float32Array.from(numbers).buffer).toString('base64')

/** Three actions over two numbers: logits 10 (x - 1), y + 0.2, and 0.5. */
const weights: FrozenWeights = {
  format: 'agentgym-weights',
  format_version: 1,
  agent: { scenario: 'game@1.0.0', model_sha256: 'a'.repeat(64) },
  observation: box({ shape: [2] }),
  action: { n: 3, start: 7 },
  activation: 'relu',
  inputs: [{ size: 2, counts: null, mean: base64(1, 0), scale: base64(10, 1) }],
  layers: [{ weight: base64(1, 0, 0, 0, 1, 0), bias: base64(0, 0.2, 0.5) }],
}

describe('frozenPolicy', () => {
  test('takes the action with the largest logit, of those that are legal', () => {
    const policy = frozenPolicy(weights)
    expect(policy.choose([1.2, 1])).toBe(7)
    expect(policy.choose([1.2, 1], [false, true, true])).toBe(8)
    expect(policy.choose([1, 0])).toBe(9)
    // 10 × (9 - 1) is clipped to 10.
    expect(policy.choose([9, 9.9])).toBe(8)
    expect(policy.choose([9, 9.7])).toBe(7)
  })

  test('says what does not fit', () => {
    const policy = frozenPolicy(weights)
    expect(() => policy.choose([1])).toThrow(TypeError)
    expect(() => policy.choose([1, 2], [true])).toThrow('the mask has 1 entries for 3 actions')
    expect(() => policy.choose([1, 2], [false, false, false])).toThrow('no legal action')
    const wrong: [object, string][] = [
      [{ format: 'x' }, 'these are no weights of an agent'],
      [{ format_version: 2 }, 'format_version is 2, and this release reads 1'],
      [{ activation: 'gelu' }, 'activation is "gelu"'],
      [{ layers: [] }, 'there are no layers'],
      [{ layers: [{ weight: base64(1, 2), bias: base64(0, 0, 0) }] }, 'layers[0].weight has 2 numbers where 6 belong'],
      [{ layers: [{ weight: base64(1, 2, 3, 4), bias: base64(0, 0) }] }, 'the last layer has 2 outputs for 3 actions'],
      [{ inputs: [{ ...weights.inputs[0], mean: 'AAAA????AAA=' }] }, 'inputs.mean is not base64'],
    ]
    for (const [change, message] of wrong) expect(() => frozenPolicy({ ...weights, ...change })).toThrow(message)
    expect(() => frozenPolicy(discrete({ n: 2 }) as never)).toThrow('agentgym agent export AGENT FILE')
  })
})
