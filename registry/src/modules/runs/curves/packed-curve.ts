import { promisify } from 'node:util'
import { brotliCompress, brotliDecompressSync, constants } from 'node:zlib'
import type { ProgressEvent } from '@agentgym/contract'

/** A point of a curve with its place among the events of its run. */
export type CurvePoint = { seq: number; at: Date; data: ProgressEvent }

/**
 * A curve as bytes: its values column by column, compressed. Counts, times and everything else that is whole are exact. Returns,
 * lengths and the scenario's metrics keep six significant digits. Timings and the learner's statistics, which are mostly noise and
 * most of the bytes, keep three.
 */
export async function packCurve(points: readonly CurvePoint[]): Promise<Buffer> {
  const columns = new Map<string, Value[]>()
  for (const [row, point] of points.entries())
    for (const [group, name, value] of valuesOf(point)) {
      const key = JSON.stringify([group, name])
      let column = columns.get(key)
      if (column === undefined) {
        column = new Array<Value>(points.length).fill(absent)
        columns.set(key, column)
      }
      column[row] = value
    }
  const exact: Header['exact'] = []
  const rough: [Group, string][] = []
  const planes: Buffer[] = []
  for (const [key, column] of columns) {
    const [group, name] = JSON.parse(key) as [Group, string]
    if (isWhole(column)) exact.push([group, name, differences(column)])
    else if (isRough(group, name)) {
      rough.push([group, name])
      planes.push(roughPlanes(column))
    } else exact.push([group, name, column.map((value) => (isNumber(value) ? Number(value.toPrecision(6)) : value))])
  }
  const header = Buffer.from(JSON.stringify({ points: points.length, exact, rough }))
  const length = Buffer.alloc(4)
  length.writeUInt32LE(header.length)
  return promisify(brotliCompress)(Buffer.concat([length, header, ...planes]), {
    params: { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_LGWIN]: 18 },
  })
}

/** What `packCurve` packed, rounded as it says. */
export function unpackCurve(packed: Uint8Array): CurvePoint[] {
  const bytes = brotliDecompressSync(packed)
  const planesAt = 4 + bytes.readUInt32LE(0)
  const { points, exact, rough } = JSON.parse(bytes.toString('utf8', 4, planesAt)) as Header
  const columns: [Group, string, Value[]][] = exact.map(([group, name, column]) => [group, name, restored(column)])
  for (const [index, [group, name]] of rough.entries()) {
    const at = planesAt + index * planeCount * points
    columns.push([group, name, roughValues(bytes.subarray(at, at + planeCount * points), points)])
  }
  return Array.from({ length: points }, (_, row) => pointOf(columns, row))
}

type Header = { points: number; exact: [Group, string, Value[] | [number[]]][]; rough: [Group, string][] }

/** Where a value stands in a point: beside its data, in it, or in one of the records in it. */
type Group = 'place' | 'data' | 'metrics' | 'learner' | 'text_encoding'
/** `absent`: this point has no such value. */
type Value = number | null | typeof absent
const absent = ''

const isNumber = (value: Value): value is number => typeof value === 'number'
/** And their differences are exact. */
const isWhole = (column: Value[]): column is number[] =>
  column.every((value) => Number.isInteger(value) && Math.abs(Number(value)) < 2 ** 52)

const timings = ['steps_per_second', 'collect_seconds', 'update_seconds']
const isRough = (group: Group, name: string) =>
  group === 'learner' || group === 'text_encoding' || (group === 'data' && timings.includes(name))

function* valuesOf({ seq, at, data }: CurvePoint): Generator<[Group, string, Value]> {
  yield ['place', 'seq', seq]
  yield ['place', 'at', at.getTime()]
  const { event: _, metrics, learner, text_encoding: texts, seconds, ...numbers } = data
  // Whole, they take half the bytes.
  yield ['place', 'milliseconds', Math.round(seconds * 1_000)]
  for (const [name, value] of Object.entries(numbers)) yield ['data', name, value]
  for (const [name, value] of Object.entries(metrics)) yield ['metrics', name, value]
  for (const [name, value] of Object.entries(learner)) if (value !== undefined) yield ['learner', name, value]
  if (texts !== undefined) for (const [name, value] of Object.entries(texts)) yield ['text_encoding', name, value]
}

function pointOf(columns: [Group, string, Value[]][], row: number): CurvePoint {
  const groups: Record<Group, Record<string, number | null>> = {
    ...{ place: {}, data: {}, metrics: {}, learner: {}, text_encoding: {} },
  }
  for (const [group, name, column] of columns) {
    const value = column[row]
    if (value !== absent) Object.defineProperty(groups[group], name, { ...visible, value })
  }
  const { place, data, metrics, learner, text_encoding } = groups
  const texts = Object.keys(text_encoding).length === 0 ? {} : { text_encoding }
  const seconds = Number(place.milliseconds) / 1_000
  // Validated against its schema on arrival.
  const whole = { event: 'progress', ...data, seconds, ...texts, metrics, learner } as unknown as ProgressEvent
  return { seq: Number(place.seq), at: new Date(Number(place.at)), data: whole }
}

/** A metric may have any name, `__proto__` too. */
const visible = { enumerable: true, configurable: true, writable: true }

/** What grows evenly becomes one number again and again, which compresses to nothing. */
function differences(column: number[]): [number[]] {
  return [column.map((value, index) => (index === 0 ? value : value - column[index - 1]))]
}

/** A column of differences is in a list of its own. */
function restored(column: Value[] | [number[]]): Value[] {
  const [first] = column
  if (!Array.isArray(first)) return column as Value[]
  let sum = 0
  return first.map((difference) => {
    sum += difference
    return sum
  })
}

/**
 * A number as three decimal digits, a sign and an exponent, each in a plane of bytes of its own: the digits are noise, and the
 * rest repeats.
 */
const planeCount = 3
const roughZero = 0b1000
const roughNull = 0b1001
const roughAbsent = 0b1010

function roughPlanes(column: Value[]): Buffer {
  const count = column.length
  const planes = Buffer.alloc(planeCount * count)
  for (const [row, value] of column.entries()) {
    const [digits, exponent] = isNumber(value) && value !== 0 ? decimal(Math.abs(value)) : [100, 0]
    const flags = value === absent ? roughAbsent : value === null ? roughNull : value === 0 ? roughZero : 0
    planes[row] = (digits - 100) & 255
    planes[count + row] = flags || ((digits - 100) >> 8) | (Number(value) < 0 ? 0b100 : 0)
    planes.writeInt8(exponent, 2 * count + row)
  }
  return planes
}

function roughValues(planes: Buffer, count: number): Value[] {
  return Array.from({ length: count }, (_, row) => {
    const flags = planes[count + row]
    if (flags === roughAbsent) return absent
    if (flags === roughNull) return null
    if (flags === roughZero) return 0
    const digits = 100 + planes[row] + (flags & 0b11) * 256
    return Number(`${flags & 0b100 ? '-' : ''}${digits}e${planes.readInt8(2 * count + row) - 2}`)
  })
}

/** 123 and 4 for 12,300; the smallest and the largest that a byte's exponent can say for what is beyond them. */
function decimal(positive: number): [number, number] {
  const [digits, exponent] = positive.toExponential(2).split('e')
  const power = Number(exponent)
  if (power < -128) return [100, -128]
  if (power > 127) return [999, 127]
  return [Math.round(Number(digits) * 100), power]
}
