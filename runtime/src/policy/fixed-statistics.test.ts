import type { SpaceDescription } from '@agentgym/contract'
import { describe, expect, it } from 'vitest'
import { fixedStatistics } from './fixed-statistics.ts'
import { buildPolicySpec } from './policy-spec.ts'

const action: SpaceDescription = { type: 'discrete', n: 2, start: 0 }
const convolution = { kind: 'small', filters: 4 } as const

function image(low: number | null, high: number | null, size = 8): SpaceDescription {
  const all = (bound: number | null) => Array<number | null>(size * size).fill(bound)
  return { type: 'box', shape: [1, size, size], low: all(low), high: all(high) }
}

function statisticsOf(observation: SpaceDescription, network: { convolution?: typeof convolution } = { convolution }) {
  const spec = { hidden: [8], activation: 'tanh' as const, embedding: 4, normalizeObservation: true, ...network }
  return fixedStatistics(buildPolicySpec({ observation, action }, spec), observation)
}

describe('statistics that do not follow the observations', () => {
  it('scale boards by their bounds to 0 and 5, and images that are halved to 0 and 1', () => {
    const board = statisticsOf(image(-1, 255))
    expect(board.fixed).toEqual(new Uint8Array(64).fill(1))
    expect([board.mean[7], board.variance[7]]).toEqual([-1, Math.fround((256 / 5) ** 2)])
    const photo = statisticsOf(image(-1, 255, 32))
    expect([photo.mean[7], photo.variance[7]]).toEqual([-1, 256 ** 2])
  })

  it('are in the order of the row where channels are the last axis', () => {
    const highs = Array.from({ length: 128 }, (_, i) => (i % 2 === 0 ? 10 : 20))
    const pixels = { type: 'box', shape: [8, 8, 2], low: highs.map(() => 0), high: highs, channels: 'last' } as const
    const { variance } = statisticsOf({ ...pixels, shape: [...pixels.shape] })
    expect([variance[0], variance[63], variance[64], variance[127]]).toEqual([4, 4, 16, 16])
  })

  it.each([
    ['without a bound', image(0, null), { convolution }],
    ['whose bounds say "any number"', image(-3.4e38, 3.4e38), { convolution }],
    ['too small for a convolution', image(0, 1, 5), { convolution }],
    ['that enter as numbers', image(0, 1), {}],
  ])('follow the observations of images %s', (_, space, network) => {
    expect(statisticsOf(space, network).fixed.every((column) => column === 0)).toBe(true)
  })

  it('have an entry for each column of boxes, in the order of the leaves', () => {
    const entries: { name: string; space: SpaceDescription }[] = [
      { name: 'words', space: { type: 'text', maxTokens: 3, vocabulary: 9 } },
      { name: 'place', space: { type: 'box', shape: [2], low: [0, 0], high: [1, 1] } },
      { name: 'orders', space: { type: 'list', slots: 2, features: 2 } },
      { name: 'board', space: image(0, 1) },
      { name: 'speed', space: { type: 'box', shape: [1], low: [-8], high: [8] } },
      { name: 'ticket', space: { type: 'text', maxTokens: 64, vocabulary: 30_522, encoder: 'minilm' } },
    ]
    const { fixed, mean, variance } = statisticsOf({ type: 'dict', entries })
    expect([...fixed]).toEqual([...Array(2 + 2 * 3).fill(0), ...Array(64).fill(1), 0, ...Array(384).fill(1)])
    expect([mean.at(-1), variance.at(-1)], 'vectors of the encoder stay as they are').toEqual([0, 1])
  })
})
