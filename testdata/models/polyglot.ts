import { goodParts } from './good-models.ts'
import { INT64, message } from './onnx-writer.ts'

/**
 * One file that is two models. ONNX Runtime takes it for its own format, because bytes 4 to 7 are ORTM, and loads the
 * flatbuffer `ort`. A reader of protobuf finds the good model, with a tensor of integers beside it that no node reads: the
 * flatbuffer lies in that.
 *
 * Bytes 0 to 3 are the offset of the flatbuffer's root table, and to protobuf the fields
 * `08 08`, ir_version 8, and `92 00`, the tag of producer_name (12) in one byte more than it needs. ORTM is then its
 * length, 79, and the beginning of its text.
 */
export function polyglot(ort: Uint8Array): Buffer {
  const root = 0x0092_0808
  const shift = root - Buffer.from(ort).readUInt32LE(0)
  const head = Buffer.concat([Buffer.from([0x08, 0x08, 0x92, 0x00, 79]), Buffer.from('RTM'.padEnd(79, ' '))])
  const parts = goodParts()
  const marker = Buffer.from('the flatbuffer lies in here     ')
  const numbers = Buffer.alloc(Math.ceil((shift + ort.length) / 8) * 8)
  marker.copy(numbers)
  const list = (number: number, items: Buffer[]) => items.map((bytes): [number, Buffer] => [number, bytes])
  const graph = message(
    ...list(1, parts.nodes),
    ...list(5, [...parts.initializers, message([1, numbers.length / 8], [2, INT64], [8, 'spare'], [9, numbers])]),
    ...list(11, parts.inputs),
    ...list(12, parts.outputs),
  )
  const file = Buffer.concat([head, message([7, graph], ...list(8, parts.opsets))])
  Buffer.alloc(marker.length).copy(file, file.indexOf(marker))
  // Offsets within a flatbuffer are relative, so the rest of it may lie anywhere.
  Buffer.from(ort).copy(file, shift + 8, 8)
  return file
}
