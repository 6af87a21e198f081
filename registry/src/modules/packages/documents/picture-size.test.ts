import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { gif, jpeg, png, webp } from '../../../../../testdata/pictures/raw-pictures.ts'
import { pictureSize } from './picture-size.ts'

describe('the size of a picture', () => {
  it.each([
    ['image/png', png(640, 480)],
    ['image/gif', gif(640, 480)],
    ['image/jpeg', jpeg(640, 480)],
    ['image/jpeg', jpeg(480, 640, 6)],
    ['image/jpeg', jpeg(640, 480, 3)],
    ['image/webp', webp('VP8X', 640, 480)],
    ['image/webp', webp('VP8L', 640, 480)],
    ['image/webp', webp('VP8 ', 640, 480)],
  ])('%s', (type, bytes) => expect(pictureSize(bytes)).toEqual({ type, width: 640, height: 480 }))

  it('of a GIF is that of its largest frame, whatever the header', () => {
    expect(pictureSize(gif(1, 1, { width: 300, height: 200 }))).toMatchObject({ width: 300, height: 200 })
    expect(pictureSize(gif(1, 1, { width: 65_535, height: 65_535 }))).toBeNull()
  })

  it.each([
    ['no pixels', png(1, 1, { width: 0, height: 4 })],
    ['as wide as a page never is', png(1, 1, { width: 8_193, height: 1 })],
    ['a bomb', png(1, 1, { width: 2 ** 32 - 1, height: 2 ** 32 - 1 })],
    ['more pixels than a page shows', webp('VP8X', 8_000, 8_000)],
    ['HTML', Buffer.from(`<!doctype html><script>alert(1)</script>${' '.repeat(100)}`)],
    ['SVG', Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)">${' '.repeat(100)}</svg>`)],
    ['HTML before a PNG', Buffer.concat([Buffer.from('<script>x</script>'), png(4, 4)])],
    ['nothing', Buffer.alloc(0)],
  ])('is none: %s', (_, bytes) => expect(pictureSize(bytes)).toBeNull())

  it('terminates with a valid size or null for any bytes', () => {
    const beginnings = [png(9, 9), gif(9, 9), jpeg(9, 9, 6), webp('VP8X', 9, 9), webp('VP8L', 9, 9), webp('VP8 ', 9, 9)]
    const change = fc.record({ at: fc.nat(60), byte: fc.nat(255) })
    fc.assert(
      fc.property(
        fc.constantFrom(...beginnings),
        fc.array(change, { maxLength: 6 }),
        fc.nat(80),
        (bytes, changes, length) => {
          const damaged = Buffer.from(bytes.subarray(0, length))
          for (const { at, byte } of changes) if (at < damaged.length) damaged[at] = byte
          const size = pictureSize(damaged)
          if (size !== null) expect(size.width * size.height).toBeLessThanOrEqual(4_096 * 4_096)
        },
      ),
    )
  })
})
