import { AgentGymError, ppoDefaults } from '@agentgym/contract'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { assertContinues, type Checkpoint, decodeCheckpoint, encodeCheckpoint, settingsOf } from './checkpoint.ts'

const checkpoint: Checkpoint = {
  scenarioHash: 'a'.repeat(64),
  seed: 7,
  plan: { algorithm: 'ppo', settings: ppoDefaults },
  iteration: 3,
  steps: 3072,
  seconds: 1.5,
  episodesTotal: 2,
  recent: [{ return: -1.25, length: 4, metrics: { solved: 1 } }],
  curve: [{ steps: 10, return_mean: null }],
  best: null,
  weights: Float32Array.of(1, -0, Number.MIN_VALUE, 3.4e38),
  reference: null,
  learnerState: Uint8Array.of(1, 2, 3),
  episodes: [
    { environment: 0, episode: 5, actions: Float32Array.of(1, 0, 1) },
    { environment: 1, episode: 0, actions: new Float32Array(0) },
  ],
}

describe('checkpoint file', () => {
  it('gives back what went in, bit for bit', () => {
    expect(decodeCheckpoint(encodeCheckpoint(checkpoint), 'x')).toEqual(checkpoint)
    // As it comes from readFile.
    expect(decodeCheckpoint(Buffer.from(encodeCheckpoint(checkpoint)), 'x')).toEqual(checkpoint)
    const held: Checkpoint = { ...checkpoint, reference: Float32Array.of(-0, 7) }
    expect(decodeCheckpoint(encodeCheckpoint(held), 'x')).toEqual(held)
    const property = fc.property(
      fc.float32Array({ noNaN: true }),
      fc.array(fc.float32Array({ noNaN: true })),
      (weights, actions) => {
        const episodes = actions.map((list, i) => ({ environment: i, episode: i * 3, actions: new Float32Array(list) }))
        const changed = { ...checkpoint, weights: new Float32Array(weights), episodes }
        expect(decodeCheckpoint(encodeCheckpoint(changed), 'x')).toEqual(changed)
      },
    )
    fc.assert(property, { numRuns: 50 })
  })

  it('refuses a torn or altered file, whatever byte it is', () => {
    const file = encodeCheckpoint(checkpoint)
    for (const length of [0, 4, 8, 100, file.length - 1])
      expect(() => decodeCheckpoint(file.slice(0, length), 'x')).toThrow(AgentGymError)
    const altered = file.slice()
    altered[file.length - 2] ^= 1
    expect(() => decodeCheckpoint(altered, 'runs/x')).toThrow(/runs\/x cannot be read: its checksum/)
  })
})

describe('a checkpoint of a version without some setting', () => {
  const { convolution, filters, ...settings } = ppoDefaults
  const older = { ...checkpoint, plan: { algorithm: 'ppo', settings } } as unknown as Checkpoint
  const scenario = { name: '@x/y', hash: checkpoint.scenarioHash }

  it('continues as it began', () => {
    expect(convolution).toBe('auto')
    const run = { scenario, plan: checkpoint.plan, seed: 7 }
    expect(() => assertContinues(older, run, 'x')).not.toThrow()
    expect(settingsOf(older.plan)).toMatchObject({ convolution: 'none', filters })
  })

  it('is refused where another setting differs', () => {
    const plan = { algorithm: 'ppo' as const, settings: { ...ppoDefaults, gamma: 0.5 } }
    expect(() => assertContinues(older, { scenario, plan, seed: 7 }, 'x')).toThrow(/other settings: gamma$/)
  })
})
