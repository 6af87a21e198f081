/** Small chunks are combined, because each write to the socket has a cost. */
const CHUNK_BYTES = 64 * 1024

/** Streams the pieces as a response body, produced on demand. The producer stops with the reader. */
export function exportStream(pieces: AsyncGenerator<string | Uint8Array>): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const gathered: Uint8Array[] = []
        for (let bytes = 0; bytes < CHUNK_BYTES; bytes += gathered.at(-1)?.length ?? 0) {
          const { value, done } = await pieces.next()
          if (done) {
            if (gathered.length > 0) controller.enqueue(Buffer.concat(gathered))
            return controller.close()
          }
          gathered.push(typeof value === 'string' ? Buffer.from(value) : value)
        }
        controller.enqueue(Buffer.concat(gathered))
      },
      async cancel() {
        await pieces.return(undefined)
      },
    },
    { highWaterMark: 0 },
  )
}
