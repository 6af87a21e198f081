import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readSettings, writeSettings } from './new-run.tsx'

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
