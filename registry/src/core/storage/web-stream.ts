import type { Readable } from 'node:stream'

/** As `Readable.toWeb`, which throws outside of every handler where the reader cancels while a chunk is on its way. */
export function webStream(readable: Readable): ReadableStream<Uint8Array> {
  const chunks = readable[Symbol.asyncIterator]()
  return new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await chunks.next()
        if (done) controller.close()
        else controller.enqueue(value)
      },
      cancel: () => {
        readable.destroy()
      },
    },
    { highWaterMark: 0 },
  )
}
