import { createRng } from '@agentgym/scenario'
import { expect, it } from 'vitest'
import { type MadeUpValues, unmask } from '../../templates/from-traces/src/unmask.ts'
import { maskedKinds, PersonalData, standInPattern } from './personal-data.ts'

it('the scenario shows made-up values in place of all stand-ins, the same ones within an episode', () => {
  const masked = new PersonalData().text(
    'I am ann@example.com, call +49 30 901820 or write to ann@example.com or bob@example.org',
  )
  const read = (seed: number) => {
    const [values, rng] = [{} as MadeUpValues, createRng(seed)]
    return [unmask(masked, values, rng), unmask(masked, values, rng)]
  }
  const [request, again] = read(1)
  expect(again).toBe(request)
  expect(request).toMatch(/^I am (\w+@\w+\.\w+), call \+[\d ]+ or write to \1 or (?!\1)\w+@\w+\.\w+$/)
  expect(read(1)[0]).toBe(request)
  expect(read(2)[0]).not.toBe(request)
})

it('every kind of stand-in has a made-up value, and other words stay', () => {
  const standIns = maskedKinds.map((kind) => `${kind.toUpperCase()}_abcdefgh`).join(' ')
  expect(unmask(standIns, {}, createRng(1))).not.toMatch(standInPattern)
  const others = 'order ORDER_abcdefgh of EMAIL_ABC, $& $1 __proto__'
  expect(unmask(others, {}, createRng(1))).toBe(others)
})
