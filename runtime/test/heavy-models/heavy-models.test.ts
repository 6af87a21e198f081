// @module-tag full
import { describe, expect, test } from 'vitest'
import { heavyModels } from '../../../testdata/models/heavy-models.ts'
import { goodAgent } from '../../../testdata/tarballs/good-agent.ts'
import { runGoldenBatch } from '../../src/evaluation/golden-batch.ts'

/**
 * Node, ONNX Runtime and the observations take about 400 MiB; all values together are counted as 512 MiB at most, of which
 * two copies are held from the second run on.
 */
const processMemoryMb = 400 + 2 * 512

describe('the heaviest models that the walk accepts', () => {
  test.each(heavyModels)('$name: $fits', { timeout: 240_000 }, async ({ build, fits }) => {
    const { policy, bytes } = build(fits)
    const manifest = { ...goodAgent, policy }
    expect(await runGoldenBatch({ manifest, model: bytes, limits: { processMemoryMb } })).toMatch(/^[0-9a-f]{64}$/)
  })
})
