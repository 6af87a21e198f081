import { crc32, deflateSync } from 'node:zlib'

/** A PNG of one colour that any program shows; `claims` says another size than the pixels have. */
export function png(width: number, height: number, claims: { width: number; height: number } = { width, height }): Buffer {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(claims.width, 0)
  header.writeUInt32BE(claims.height, 4)
  header.set([8, 2, 0, 0, 0], 8)
  const row = Buffer.concat([Buffer.of(0), Buffer.alloc(3 * width, Buffer.of(0, 158, 115))])
  const pixels = deflateSync(Buffer.concat(Array.from({ length: height }, () => row)))
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', header),
    chunk('IDAT', pixels),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const ends = Buffer.alloc(8)
  ends.writeUInt32BE(data.length, 0)
  ends.writeUInt32BE(crc32(body), 4)
  return Buffer.concat([ends.subarray(0, 4), body, ends.subarray(4)])
}

/** A GIF of one pixel; `frame` is what its frame says of its size. */
export function gif(width: number, height: number, frame: { width: number; height: number } = { width, height }): Buffer {
  const screen = Buffer.alloc(13)
  screen.write('GIF89a', 'latin1')
  screen.writeUInt16LE(width, 6)
  screen.writeUInt16LE(height, 8)
  screen[10] = 0x80
  const image = Buffer.alloc(10)
  image[0] = 0x2c
  image.writeUInt16LE(frame.width, 5)
  image.writeUInt16LE(frame.height, 7)
  const extension = Buffer.from([0x21, 0xfe, 3, 0x2c, 0xff, 0xff, 0])
  return Buffer.concat([screen, Buffer.alloc(6), extension, image, Buffer.from([2, 2, 0x4c, 1, 0, 0x3b])])
}

/** The parts of a JPEG that say its size; `orientation` as cameras write it. */
export function jpeg(width: number, height: number, orientation?: number): Buffer {
  const frame = Buffer.from([0xff, 0xc2, 0, 17, 8, 0, 0, 0, 0, 3, 1, 0x22, 0, 2, 0x11, 1, 3, 0x11, 1])
  frame.writeUInt16BE(height, 5)
  frame.writeUInt16BE(width, 7)
  const exif = Buffer.from('\xff\xe1\0\x22Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\0\0\0\0\0\0\0', 'latin1')
  if (orientation !== undefined) exif.writeUInt16BE(orientation, 28)
  // A table whose bytes look like a frame.
  const table = Buffer.from([0xff, 0xc4, 0, 9, 0xff, 0xc0, 0, 17, 8, 0xff, 0xff])
  return Buffer.concat([
    Buffer.of(0xff, 0xd8),
    ...(orientation === undefined ? [] : [exif]),
    table,
    frame,
    Buffer.of(0xff, 0xd9),
  ])
}

/** The header of a WebP of each kind. */
export function webp(kind: 'VP8X' | 'VP8L' | 'VP8 ', width: number, height: number): Buffer {
  const bytes = Buffer.alloc(40)
  bytes.write('RIFF', 0, 'latin1')
  bytes.write(`WEBP${kind}`, 8, 'latin1')
  if (kind === 'VP8X') {
    bytes.writeUIntLE(width - 1, 24, 3)
    bytes.writeUIntLE(height - 1, 27, 3)
  } else if (kind === 'VP8L') {
    bytes[20] = 0x2f
    bytes.writeUInt32LE((width - 1) | ((height - 1) << 14), 21)
  } else {
    bytes.set([0x9d, 0x01, 0x2a], 23)
    bytes.writeUInt16LE(width, 26)
    bytes.writeUInt16LE(height, 28)
  }
  return bytes
}
