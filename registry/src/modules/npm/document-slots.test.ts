import { expect, it } from 'vitest'
import { documentSlots } from './document-slots.ts'

it('runs so many of one account at once, and others beside them', async () => {
  const inSlot = documentSlots(2)
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const underWay = [inSlot('ada', () => released), inSlot('ada', () => released)]
  await expect(inSlot('ada', async () => {})).rejects.toMatchObject({ code: 'rate_limited' })
  expect(await inSlot('bea', async () => 'done')).toBe('done')
  release()
  await Promise.all(underWay)
  expect(await inSlot('ada', async () => 'done')).toBe('done')
})

it('gives a slot back where the work fails', async () => {
  const inSlot = documentSlots(1)
  const failing = async () => {
    throw new Error('no')
  }
  for (let round = 0; round < 3; round++) await expect(inSlot('ada', failing)).rejects.toThrow('no')
})
