/** Small pieces cost a crossing into the socket each. */
const CHUNK_BYTES = 64 * 1024

/** Streams the pieces as a response body, produced as they are read. When the reader stops, so does the producer. */
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
