import { episodeFrame } from '@agentgym/pictures'
import { loadImage } from '@napi-rs/canvas'
import { expect, it } from 'vitest'
import { sampleEpisode } from '../../../../testdata/episodes/sample-episode.ts'
import { drawPreview } from './draw-preview.ts'
import { PreviewPictures } from './preview-pictures.ts'

const picture = episodeFrame(sampleEpisode(), null, 2)
const preview = (key: string) => ({ key, title: 'Cart pole', lines: ['@acme/cart-pole'], picture })

it('draws a PNG of the size that Open Graph asks for, whatever the title', async () => {
  for (const title of ['Cart pole', '', 'x'.repeat(300), 'a\u0000\u202e مرحبا '.repeat(40)]) {
    const image = await loadImage(Buffer.from(await drawPreview({ ...preview('a'), title })))
    expect([image.width, image.height]).toEqual([1_200, 630])
  }
})

it('draws one at a time, each once, and refuses what would wait long', async () => {
  const drawn: string[] = []
  let [drawing, most] = [0, 0]
  let release = () => {}
  const opened = new Promise<void>((resolve) => {
    release = resolve
  })
  const pictures = new PreviewPictures(async ({ key }) => {
    drawing += 1
    most = Math.max(most, drawing)
    await opened
    drawn.push(key)
    drawing -= 1
    return new Uint8Array([drawn.length])
  })
  const keys = Array.from({ length: 16 }, (_, i) => `key ${i}`)
  const asked = [...keys, ...keys].map((key) => pictures.picture(preview(key)))
  expect(await pictures.picture(preview('one more'))).toBeNull()
  release()
  expect((await Promise.all(asked)).map((bytes) => bytes?.[0])).toEqual([...keys, ...keys].map((_, i) => (i % 16) + 1))
  expect(drawn).toEqual(keys)
  expect(most).toBe(1)
  expect(await pictures.picture(preview('one more'))).toEqual(new Uint8Array([17]))
})

it('tries again after a failure, and forgets what was asked for long ago', async () => {
  let fails = true
  let times = 0
  const pictures = new PreviewPictures(async () => {
    times += 1
    if (fails) throw new Error('out of memory')
    return new Uint8Array()
  })
  await expect(pictures.picture(preview('a'))).rejects.toThrow('out of memory')
  fails = false
  for (const key of ['a', 'a', ...Array.from({ length: 200 }, (_, i) => `other ${i}`)])
    await pictures.picture(preview(key))
  expect(times).toBe(202)
  await pictures.picture(preview('a'))
  expect(times).toBe(203)
})
