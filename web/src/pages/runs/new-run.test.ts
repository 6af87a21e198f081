import type { ServerStatus } from '@agentgym/contract'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { describeGpus, readSettings, writeSettings } from './new-run.tsx'

describe('settings as text', () => {
  it('are parsed as typed', () => {
    const text = ' learning_rate = 0.001\n\nhidden=[64,64]\nactivation=tanh\ntarget_kl=null\nnormalize_reward=true'
    expect(readSettings(text)).toEqual({
      ...{ learning_rate: 0.001, hidden: [64, 64], activation: 'tanh', target_kl: null, normalize_reward: true },
    })
    expect(readSettings('')).toEqual({})
  })

  it('are parsed like agentgym train --set', () => {
    const text = 'hidden=64,64\nlearning_rate=.001\ngamma=1e-3'
    expect(readSettings(text)).toEqual({ hidden: [64, 64], learning_rate: 0.001, gamma: 0.001 })
  })

  it.each(['nothing', '=1', 'a=1\nb'])('%j is invalid', (text) => {
    expect(() => readSettings(text)).toThrow(expect.objectContaining({ code: 'request_invalid' }))
  })

  it('round-trip', () => {
    const scalar = fc.oneof(fc.integer(), fc.boolean(), fc.constant(null), fc.stringMatching(/^[a-z_]{1,12}$/))
    const value = fc.oneof(scalar, fc.array(scalar, { maxLength: 4 }))
    const name = fc.stringMatching(/^[a-z_]{1,12}$/).filter((one) => one !== 'hidden')
    const settings = fc.dictionary(name, value)
    fc.assert(
      fc.property(settings, (given) => {
        // The word `null` is the value null, as on the command line.
        const words = (one: unknown) => one === 'null' || one === 'true' || one === 'false'
        fc.pre(!Object.values(given).some(words))
        expect(readSettings(writeSettings(given))).toEqual({ ...given })
      }),
    )
  })
})

describe('GPUs of the workers', () => {
  const gpu = { name: 'NVIDIA H200', memory_bytes: 141e9 }
  const versions = { driver: '570.0', libtorch: '2.11', onnxruntime: '1.30' }
  const status = (...workers: Partial<ServerStatus['workers'][number]>[]) => ({ workers }) as ServerStatus

  it('are counted by name and memory', () => {
    const others = { state: 'busy', cuda: versions, gpus: [gpu, { name: 'NVIDIA L4', memory_bytes: 24e9 }] } as const
    expect(
      describeGpus(status({ state: 'idle', cuda: versions, gpus: [gpu] }, { ...others, gpus: [...others.gpus] })),
    ).toBe('Connected workers have 2 × NVIDIA H200 (141 GB), NVIDIA L4 (24 GB).')
  })

  it('are none where no worker is connected that can use them', () => {
    const none = 'No connected worker has a GPU: a run that needs one waits, at no cost, until one connects.'
    expect(describeGpus(null)).toBe(none)
    expect(describeGpus(status({ state: 'silent', cuda: versions, gpus: [gpu] }))).toBe(none)
    expect(describeGpus(status({ state: 'idle', cuda: null, gpus: [gpu] }))).toBe(none)
  })
})
