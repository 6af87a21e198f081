import { AgentGymError } from '@agentgym/contract'

/** All bodies together that are held in memory at a time; one that is larger alone is held alone. */
const memoryBytes = 2 ** 30
let heldBytes = 0
const waiting: (() => void)[] = []

/**
 * Reads a large body, up to a limit that is held while it arrives, and gives it to `work`. Bodies beyond what the process
 * may hold in memory are not read before others are done with: their senders wait. Throws `request_too_large`.
 */
export async function readBounded<Result>(
  request: Request,
  limitBytes: number,
  work: (bytes: Uint8Array) => Promise<Result>,
): Promise<Result> {
  const told = Number(request.headers.get('content-length') ?? Number.NaN)
  const reserved = Math.min(Number.isFinite(told) ? told : limitBytes, limitBytes, memoryBytes)
  while (heldBytes > 0 && heldBytes + reserved > memoryBytes)
    await new Promise<void>((resolve) => waiting.push(resolve))
  heldBytes += reserved
  try {
    return await work(await readWhole(request, limitBytes))
  } finally {
    heldBytes -= reserved
    for (const resume of waiting.splice(0)) resume()
  }
}

async function readWhole(request: Request, limitBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of request.body ?? []) {
    length += chunk.length
    if (length > limitBytes)
      throw new AgentGymError({
        code: 'request_too_large',
        message: `The body of the request is larger than ${limitBytes} bytes.`,
        data: { limit_bytes: limitBytes },
      })
    chunks.push(chunk)
  }
  return Buffer.concat(chunks, length)
}
