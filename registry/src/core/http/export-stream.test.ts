import { expect, it } from 'vitest'
import { exportStream } from './export-stream.ts'

async function* pieces(count: number, log: string[] = []): AsyncGenerator<string | Uint8Array> {
  try {
    for (let index = 0; index < count; index++) yield index % 2 ? Buffer.from([index % 256]) : `${'é'.repeat(500)}\n`
  } finally {
    log.push('ended')
  }
}

it('sends every byte once, in reasonably large chunks', async () => {
  const expected: Buffer[] = []
  for await (const piece of pieces(1001)) expected.push(Buffer.from(piece as string))
  const chunks: Uint8Array[] = []
  for await (const chunk of exportStream(pieces(1001))) chunks.push(chunk)
  expect(Buffer.concat(chunks).equals(Buffer.concat(expected))).toBe(true)
  expect(chunks).toHaveLength(Math.ceil(Buffer.concat(expected).length / 65_536))
})

it('is empty for no data', async () => {
  expect(await new Response(exportStream(pieces(0))).text()).toBe('')
})

it('produces on demand, and stops the producer when the reader leaves', async () => {
  const log: string[] = []
  const reader = exportStream(pieces(Number.POSITIVE_INFINITY, log)).getReader()
  await reader.read()
  await reader.cancel()
  expect(log).toEqual(['ended'])
})

it('aborts if the producer fails', async () => {
  const failing = (async function* () {
    yield 'a'
    throw new Error('the database has gone')
  })()
  await expect(new Response(exportStream(failing)).text()).rejects.toThrow('the database has gone')
})
