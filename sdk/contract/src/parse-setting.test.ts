import { describe, expect, it } from 'vitest'
import { parseSetting, parseSettings, settingValue } from './parse-setting.ts'

describe('a setting as people type it', () => {
  it('is a name and a value, which may contain equals signs', () => {
    expect(parseSetting('gamma=0.9')).toEqual({ name: 'gamma', text: '0.9' })
    expect(parseSetting(' note = a=b ')).toEqual({ name: 'note', text: 'a=b' })
    expect(parseSetting('note=')).toEqual({ name: 'note', text: '' })
  })

  it.each(['gamma', '=1', ' =1', ''])('%j is invalid', (text) => {
    expect(() => parseSetting(text)).toThrow(expect.objectContaining({ code: 'config_invalid', data: { field: text } }))
  })

  it.each([
    ['learning_rate', '0.001', 0.001],
    ['learning_rate', '.001', 0.001],
    ['learning_rate', '1e-3', 0.001],
    ['learning_rate', '+3.', 3],
    ['steps', ' 100000 ', 100_000],
    ['hidden', '64,64', [64, 64]],
    ['hidden', '64 , 32', [64, 32]],
    ['hidden', '[64,64]', [64, 64]],
    ['hidden', '64', [64]],
    ['hidden', '[]', []],
    ['activation', 'tanh', 'tanh'],
    ['activation', '"tanh"', 'tanh'],
    ['target_kl', 'null', null],
    ['normalize_reward', 'true', true],
    ['note', '', ''],
    ['note', '1,2', '1,2'],
  ])('%s=%s has the value %j', (name, text, value) => {
    expect(settingValue(name, text)).toEqual(value)
  })

  it('are collected by name, the last of a name wins', () => {
    expect({ ...parseSettings(['gamma=0.9', 'hidden=64,64', 'gamma=.99']) }).toEqual({ gamma: 0.99, hidden: [64, 64] })
  })

  it('keep names that objects inherit as names', () => {
    expect(Object.keys(parseSettings(['__proto__=1']))).toEqual(['__proto__'])
  })
})
