import { createRequire } from 'node:module'
import type { Theme } from './picture-colors.ts'
import { Raster } from './raster.ts'
import type { Recording } from './record-episode.ts'

// CommonJS, whose default export loaders read in two ways.
const gifenc = createRequire(import.meta.url)('gifenc') as typeof import('gifenc')

/** A moment as PNG: before action `index`, or the end. */
export async function pngOf(recordings: readonly Recording[], index: number | null, theme: Theme): Promise<Uint8Array> {
  const raster = new Raster(recordings, { scale: 2, theme })
  raster.draw(index ?? raster.last)
  return raster.canvas.encode('png')
}

/** Frames of an animation: of a longer episode, every second, third, … step. */
const MOST_FRAMES = 300
/** How long the whole takes about, and how long one frame does, milliseconds. GIF counts in hundredths of a second. */
const WHOLE_MS = 12_000
const FRAME_MS = { least: 40, most: 400 }
const END_MS = 2_000

const COLORS = 63

/** The pixels that differ from those before, the others transparent. */
function changedOf(pixels: Uint8Array, before: Uint8Array, transparent: number): Uint8Array {
  return pixels.map((pixel, i) => (pixel === before[i] ? transparent : pixel))
}

/** All steps as an animated GIF that repeats. */
export function gifOf(recordings: readonly Recording[], theme: Theme): Uint8Array {
  const raster = new Raster(recordings, { scale: 1.25, theme })
  const { width, height } = raster.canvas
  const context = raster.canvas.getContext('2d')
  const stride = Math.ceil((raster.last + 1) / MOST_FRAMES)
  const frames = Array.from({ length: Math.floor(raster.last / stride) }, (_, i) => i * stride)
  const delay = Math.min(FRAME_MS.most, Math.max(FRAME_MS.least, WHOLE_MS / (frames.length + 1)))
  const encoder = gifenc.GIFEncoder()
  // The colors of the theme are those of every frame: one palette, of the end, which has them all.
  raster.draw(raster.last)
  const palette = gifenc.quantize(context.getImageData(0, 0, width, height).data, COLORS)
  const transparentIndex = palette.length
  let before: Uint8Array | undefined
  for (const index of [...frames, raster.last]) {
    raster.draw(index)
    const pixels = gifenc.applyPalette(context.getImageData(0, 0, width, height).data, palette)
    const shown = index === raster.last ? END_MS : delay
    const frame = before === undefined ? pixels : changedOf(pixels, before, transparentIndex)
    before = pixels
    const colors = [...palette, [0, 0, 0] as [number, number, number]]
    // What did not change stays from the frame before.
    const patch = { transparent: true, transparentIndex, dispose: 1 }
    encoder.writeFrame(frame, width, height, { palette: colors, delay: Math.round(shown / 10) * 10, ...patch })
  }
  encoder.finish()
  return encoder.bytes()
}
