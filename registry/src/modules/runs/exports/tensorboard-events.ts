import type { ProgressEvent } from '@agentgym/contract'
import protobuf from 'protobufjs'
import { learnerMetrics, MAX_METRICS } from './metrics-csv.ts'

/**
 * The part of TensorFlow's event.proto and summary.proto needed for scalars, with the original field numbers. Outside
 * of a `oneof`, a value of 0 would not be written and TensorBoard would not show it.
 */
const schema = `
  syntax = "proto3";
  package tensorflow;
  message Event {
    double wall_time = 1;
    int64 step = 2;
    oneof what { string file_version = 3; Summary summary = 5; }
  }
  message Summary {
    message Value { string tag = 1; oneof value { float simple_value = 2; } }
    repeated Value value = 1;
  }
`

const Event = protobuf.parse(schema, { keepCase: true }).root.lookupType('tensorflow.Event')

type Value = { tag: string; simple_value: number }

/**
 * A run's learning curve as a TensorBoard event file: one record per iteration, with the environment steps so far as
 * its step and `startedAt` plus the seconds trained as its time. Null values are omitted. Values are float32, as in
 * TensorBoard.
 */
export async function* tensorboardEvents(
  points: AsyncIterable<ProgressEvent> | Iterable<ProgressEvent>,
  startedAt: Date,
): AsyncGenerator<Uint8Array> {
  const startSeconds = startedAt.getTime() / 1000
  yield record({ wall_time: startSeconds, file_version: 'brain.Event:2' })
  for await (const point of points)
    yield record({
      wall_time: startSeconds + point.seconds,
      step: point.steps,
      summary: { value: scalars(point) },
    })
}

/** Name of the file. TensorBoard requires `tfevents` in it. */
export function tensorboardFileName(run: string, startedAt: Date): string {
  return `events.out.tfevents.${Math.floor(startedAt.getTime() / 1000)}.${run}`
}

function scalars(point: ProgressEvent): Value[] {
  const figures: [tag: string, value: number | null | undefined][] = [
    ['rollout/return_mean', point.return_mean],
    ['rollout/length_mean', point.length_mean],
    ['rollout/episodes', point.episodes_total],
    ['time/iteration', point.iteration],
    ['time/steps_per_second', point.steps_per_second],
    ['time/collect_seconds', point.collect_seconds],
    ['time/update_seconds', point.update_seconds],
    ...learnerMetrics.map((name) => [`train/${name}`, point.learner[name] ?? null] as [string, number | null]),
    ...Object.entries(point.metrics)
      .slice(0, MAX_METRICS)
      .map(([name, value]) => [`metrics/${name}`, value] as [string, number]),
  ]
  return figures.flatMap(([tag, value]) => (typeof value === 'number' ? [{ tag, simple_value: value }] : []))
}

/** TFRecord: length (uint64), its checksum, the event, its checksum; little-endian. */
function record(event: Record<string, unknown>): Uint8Array {
  const data = Event.encode(event).finish()
  const bytes = new Uint8Array(8 + 4 + data.length + 4)
  const view = new DataView(bytes.buffer)
  view.setBigUint64(0, BigInt(data.length), true)
  view.setUint32(8, masked(bytes.subarray(0, 8)), true)
  bytes.set(data, 12)
  view.setUint32(12 + data.length, masked(data), true)
  return bytes
}

/** The masked checksum of TFRecord: rotated by 15 bits, plus a constant, because CRCs of CRCs are weak. */
function masked(bytes: Uint8Array): number {
  const crc = crc32c(bytes)
  return (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0
}

/** Castagnoli's polynomial, bits reversed. */
const POLYNOMIAL = 0x82f63b78

const table = Uint32Array.from({ length: 256 }, (_, byte) => {
  let remainder = byte
  for (let bit = 0; bit < 8; bit++) remainder = (remainder >>> 1) ^ (remainder & 1 ? POLYNOMIAL : 0)
  return remainder >>> 0
})

/** CRC-32C (RFC 3720, appendix B.4) as an unsigned number; Node's own `crc32` uses another polynomial. */
export function crc32c(bytes: Uint8Array): number {
  let remainder = 0xffffffff
  for (const byte of bytes) remainder = (remainder >>> 8) ^ table[(remainder ^ byte) & 0xff]
  return (remainder ^ 0xffffffff) >>> 0
}
