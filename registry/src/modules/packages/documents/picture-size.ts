import type { PictureType } from '../../../core/database/pictures-schema.ts'

type PictureSize = { type: PictureType; width: number; height: number }

/** 4096 by 4096 pixels take 64 MiB when decoded. */
const maxSide = 8_192
const maxPixels = 4_096 * 4_096

/**
 * Type and size of an image from its content, regardless of its name. Null if it is not a PNG, JPEG, GIF or WebP, has
 * no size, or is too large to show. Does not use `image-size`: it reads a GIF's header but not its frames, and searches
 * a damaged JPEG byte by byte, which finds a harmless size in a bomb and takes a second for 2 MiB.
 */
export function pictureSize(bytes: Buffer): PictureSize | null {
  const found = readPng(bytes) ?? readGif(bytes) ?? readWebp(bytes) ?? readJpeg(bytes)
  if (found === null) return null
  const { width, height } = found
  if (width < 1 || height < 1 || width > maxSide || height > maxSide || width * height > maxPixels) return null
  return found
}

/** IHDR comes first in every PNG. */
function readPng(bytes: Buffer): PictureSize | null {
  if (bytes.length < 33 || bytes.toString('latin1', 0, 8) !== '\x89PNG\r\n\x1a\n') return null
  if (bytes.readUInt32BE(8) !== 13 || bytes.toString('latin1', 12, 16) !== 'IHDR') return null
  return { type: 'image/png', width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) }
}

/** Frames may be larger than the screen in the header. Browsers allocate them, so the largest counts. */
function readGif(bytes: Buffer): PictureSize | null {
  if (bytes.length < 14 || !/^GIF8[79]a$/.test(bytes.toString('latin1', 0, 6))) return null
  let [width, height] = [bytes.readUInt16LE(6), bytes.readUInt16LE(8)]
  let frames = 0
  let at = 13 + colourTable(bytes[10])
  while (at < bytes.length && bytes[at] !== 0x3b) {
    if (bytes[at] === 0x2c && at + 10 < bytes.length) {
      width = Math.max(width, bytes.readUInt16LE(at + 1) + bytes.readUInt16LE(at + 5))
      height = Math.max(height, bytes.readUInt16LE(at + 3) + bytes.readUInt16LE(at + 7))
      frames++
      at = afterBlocks(bytes, at + 11 + colourTable(bytes[at + 9]))
    } else if (bytes[at] === 0x21) at = afterBlocks(bytes, at + 2)
    else break
  }
  return frames === 0 ? null : { type: 'image/gif', width, height }
}

function colourTable(flags: number): number {
  return (flags & 0x80) === 0 ? 0 : 3 * 2 ** ((flags & 7) + 1)
}

/** Sub-blocks: each after a byte of its length, the last one empty. */
function afterBlocks(bytes: Buffer, from: number): number {
  let at = from
  while (at < bytes.length && bytes[at] !== 0) at += 1 + bytes[at]
  return at + 1
}

function readWebp(bytes: Buffer): PictureSize | null {
  if (bytes.length < 30 || bytes.toString('latin1', 0, 4) !== 'RIFF') return null
  const type = 'image/webp'
  switch (bytes.toString('latin1', 8, 16)) {
    case 'WEBPVP8X':
      return { type, width: 1 + bytes.readUIntLE(24, 3), height: 1 + bytes.readUIntLE(27, 3) }
    case 'WEBPVP8L': {
      if (bytes[20] !== 0x2f) return null
      const packed = bytes.readUInt32LE(21)
      return { type, width: 1 + (packed & 0x3fff), height: 1 + ((packed >>> 14) & 0x3fff) }
    }
    case 'WEBPVP8 ':
      if (bytes.readUIntBE(23, 3) !== 0x9d012a) return null
      return { type, width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff }
    default:
      return null
  }
}

/** Start of frame: all of 0xc0 to 0xcf but tables and the arithmetic coder's conditions. */
const frameMarkers = new Set([0xc0, 0xc1, 0xc2, 0xc3, 0xc5, 0xc6, 0xc7, 0xc9, 0xca, 0xcb, 0xcd, 0xce, 0xcf])

function readJpeg(bytes: Buffer): PictureSize | null {
  if (bytes.length < 4 || bytes.readUIntBE(0, 3) !== 0xffd8ff) return null
  let turned = false
  for (let at = 2; at + 9 < bytes.length && bytes[at] === 0xff; ) {
    const marker = bytes[at + 1]
    // 0xff may be repeated before a marker.
    if (marker === 0xff) {
      at++
      continue
    }
    const length = bytes.readUInt16BE(at + 2)
    if (length < 2) return null
    if (frameMarkers.has(marker)) {
      const [height, width] = [bytes.readUInt16BE(at + 5), bytes.readUInt16BE(at + 7)]
      return turned ? { type: 'image/jpeg', width: height, height: width } : { type: 'image/jpeg', width, height }
    }
    if (marker === 0xe1) turned ||= isTurned(bytes.subarray(at + 4, at + 2 + length))
    at += 2 + length
  }
  return null
}

/** Whether the Exif orientation swaps width and height: 5 to 8. */
function isTurned(segment: Buffer): boolean {
  if (segment.toString('latin1', 0, 6) !== 'Exif\0\0' || segment.length < 16) return false
  const tiff = segment.subarray(6)
  const little = tiff.toString('latin1', 0, 2) === 'II'
  const short = (at: number) => (little ? tiff.readUInt16LE(at) : tiff.readUInt16BE(at))
  const start = little ? tiff.readUInt32LE(4) : tiff.readUInt32BE(4)
  if (start + 2 > tiff.length) return false
  for (let entry = 0; entry < short(start); entry++) {
    const at = start + 2 + 12 * entry
    if (at + 12 > tiff.length) return false
    if (short(at) === 0x0112) return short(at + 8) >= 5 && short(at + 8) <= 8
  }
  return false
}
