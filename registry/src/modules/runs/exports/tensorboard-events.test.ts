import { describe, expect, it } from 'vitest'
import { crc32c, tensorboardEvents, tensorboardFileName } from './tensorboard-events.ts'
import { gather, progressPoint } from './testing/progress-points.ts'

describe('tensorboard events', () => {
  const startedAt = new Date('2026-03-01T12:00:00.500Z')

  type Field = { number: number; value: bigint | Uint8Array | number }

  /** Protobuf's wire format, read by hand: varints, doubles, floats and bytes. */
  function* fieldsOf(bytes: Uint8Array): Generator<Field> {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    let at = 0
    const varint = (): bigint => {
      let value = 0n
      for (let shift = 0n; ; shift += 7n) {
        const byte = bytes[at++]
        value |= BigInt(byte & 0x7f) << shift
        if (byte < 0x80) return value
      }
    }
    const taken = (bytes: number): number => {
      at += bytes
      return at - bytes
    }
    while (at < bytes.length) {
      const key = Number(varint())
      const number = key >>> 3
      const type = key & 7
      if (type === 0) yield { number, value: varint() }
      else if (type === 1) yield { number, value: view.getFloat64(taken(8), true) }
      else if (type === 5) yield { number, value: view.getFloat32(taken(4), true) }
      else if (type === 2) {
        const length = Number(varint())
        const start = taken(length)
        yield { number, value: bytes.subarray(start, start + length) }
      } else expect.fail(`wire type ${type}`)
    }
  }

  const field = (bytes: Uint8Array, wanted: number) =>
    [...fieldsOf(bytes)].find(({ number }) => number === wanted)?.value
  const text = (value: Field['value'] | undefined) => Buffer.from(value as Uint8Array).toString()

  /** As TensorFlow's reader: every checksum must be right. */
  function read(file: Uint8Array) {
    const view = new DataView(file.buffer, file.byteOffset, file.byteLength)
    const unmasked = (at: number) => {
      const rotated = (view.getUint32(at, true) - 0xa282ead8) >>> 0
      return ((rotated >>> 17) | (rotated << 15)) >>> 0
    }
    const events = []
    for (let at = 0; at < file.length; ) {
      const length = Number(view.getBigUint64(at, true))
      expect(unmasked(at + 8)).toBe(crc32c(file.subarray(at, at + 8)))
      const data = file.subarray(at + 12, at + 12 + length)
      expect(unmasked(at + 12 + length)).toBe(crc32c(data))
      const summary = field(data, 5) as Uint8Array | undefined
      const scalars = [...fieldsOf(summary ?? new Uint8Array())].map(({ value }) => [
        text(field(value as Uint8Array, 1)),
        field(value as Uint8Array, 2),
      ])
      const version = field(data, 3)
      events.push({
        wallTime: field(data, 1),
        step: Number(field(data, 2) ?? 0n),
        scalars: Object.fromEntries(scalars),
        ...(version === undefined ? {} : { version: text(version) }),
      })
      at += 16 + length
    }
    return events
  }

  async function written(points: Parameters<typeof tensorboardEvents>[0]) {
    return read(Buffer.concat(await gather(tensorboardEvents(points, startedAt))))
  }

  describe('tensorboardEvents', () => {
    it('begins with the format version, then a record per iteration', async () => {
      const [version, first, second, ...rest] = await written([progressPoint(1), progressPoint(2)])
      expect(rest).toEqual([])
      expect(version).toEqual({ wallTime: 1_772_366_400.5, step: 0, scalars: {}, version: 'brain.Event:2' })
      expect(first).toEqual({
        wallTime: 1_772_366_400.75,
        step: 2048,
        scalars: {
          'rollout/return_mean': 1.5,
          'rollout/length_mean': 20,
          'rollout/episodes': 3,
          'time/iteration': 1,
          'time/steps_per_second': 12_345.5,
          'time/collect_seconds': 0.125,
          'time/update_seconds': 0.0625,
          'train/policy_loss': -0.015625,
          'train/value_loss': 2.5,
          'train/entropy': 0.6875,
          'train/approximate_kl': Math.fround(1e-7),
          'train/clip_fraction': 0,
          'train/explained_variance': -0.25,
          'train/gradient_norm': 0.5,
          'train/learning_rate': Math.fround(0.0003),
          'metrics/solved': 0.5,
        },
      })
      expect(second).toMatchObject({ wallTime: 1_772_366_401, step: 4096, scalars: { 'rollout/return_mean': 3 } })
    })

    it('omits null values', async () => {
      const [, event] = await written([progressPoint(1, { return_mean: null, metrics: {} })])
      expect(Object.keys(event.scalars)).not.toContain('rollout/return_mean')
      expect(Object.keys(event.scalars)).not.toContain('train/kl_to_reference')
    })

    it('supports steps beyond 32 bits, and metric names in any script', async () => {
      const point = progressPoint(1, { steps: 10 ** 12 + 1, metrics: { Erfüllt: 1, '成功率/x': 2 } })
      const [, event] = await written([point])
      expect(event.step).toBe(10 ** 12 + 1)
      expect(event.scalars).toMatchObject({ 'metrics/Erfüllt': 1, 'metrics/成功率/x': 2 })
    })

    it('has a name that TensorBoard recognizes', () => {
      expect(tensorboardFileName('a-run', startedAt)).toBe('events.out.tfevents.1772366400.a-run')
    })
  })
})

describe('crc32c', () => {
  // RFC 3720, appendix B.4, and the check value that catalogues of CRCs give.
  it.each([
    ['nothing', new Uint8Array(0), 0],
    ['the digits 1 to 9', Buffer.from('123456789'), 0xe3069283],
    ['32 bytes of zeroes', new Uint8Array(32), 0x8a9136aa],
    ['32 bytes of ones', new Uint8Array(32).fill(0xff), 0x62a8ab43],
    ['32 bytes that count up', Uint8Array.from({ length: 32 }, (_, index) => index), 0x46dd794e],
    ['32 bytes that count down', Uint8Array.from({ length: 32 }, (_, index) => 31 - index), 0x113fdb5c],
  ])('of %s', (_, bytes, checksum) => {
    expect(crc32c(bytes)).toBe(checksum)
  })
})
