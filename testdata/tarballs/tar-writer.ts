import { gzipSync } from 'node:zlib'

/** One entry of an archive; what is left out is as `npm pack` has it. Any part can be wrong, which no packing tool allows. */
export type RawEntry = {
  /** Bytes of the name where they are not UTF-8. */
  path: string | Buffer
  body?: string | Buffer
  /** Type flag: '0' file, '1' hard link, '2' symbolic link, '3' device, '5' folder, 'x' pax, 'g' global pax, 'L' GNU name. */
  type?: string
  link?: string
  /** The mode field as text. */
  mode?: string
  /** The size field as text. */
  size?: string
  magic?: string
  prefix?: string
  checksum?: string
  /** Bytes that fill the last block. */
  padding?: number
}

const block = 512
export const endOfArchive = Buffer.alloc(2 * block)

export function rawEntry(entry: RawEntry): Buffer {
  const body = Buffer.from(entry.body ?? '')
  const header = Buffer.alloc(block)
  const path = Buffer.from(entry.path)
  path.copy(header, 0, 0, 100)
  header.write(entry.mode ?? '0000644\0', 100, 8, 'latin1')
  header.write('0000000\0', 108, 'latin1')
  header.write('0000000\0', 116, 'latin1')
  header.write(entry.size ?? `${body.length.toString(8).padStart(11, '0')}\0`, 124, 12, 'latin1')
  header.write('03560701700\0', 136, 'latin1')
  header.write(entry.type ?? '0', 156, 1, 'latin1')
  header.write(entry.link ?? '', 157, 100, 'latin1')
  header.write(entry.magic ?? 'ustar\x0000', 257, 8, 'latin1')
  header.write(entry.prefix ?? '', 345, 155, 'utf8')
  header.write('        ', 148, 'latin1')
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(entry.checksum ?? `${sum.toString(8).padStart(6, '0')}\0 `, 148, 8, 'latin1')
  return Buffer.concat([header, body, Buffer.alloc(-body.length & (block - 1), entry.padding ?? 0)])
}

/** A pax header with these records, in this order. */
export function paxEntry(records: [key: string, value: string][]): Buffer {
  const body = Buffer.concat(
    records.map(([key, value]) => {
      const rest = Buffer.from(` ${key}=${value}\n`)
      let length = rest.length + 1
      while (String(length).length + rest.length !== length) length = String(length).length + rest.length
      return Buffer.concat([Buffer.from(String(length)), rest])
    }),
  )
  return rawEntry({ path: 'PaxHeader/entry', type: 'x', body })
}

export function archive(entries: (RawEntry | Buffer)[], end: Buffer = endOfArchive): Buffer {
  return Buffer.concat([...entries.map((entry) => (Buffer.isBuffer(entry) ? entry : rawEntry(entry))), end])
}

export function gzip(bytes: Buffer): Buffer {
  return gzipSync(bytes, { level: 9 })
}
