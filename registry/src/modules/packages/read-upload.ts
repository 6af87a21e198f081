import { AgentGymError } from '@agentgym/contract'
import { tarballFailure } from './tarball-failure.ts'

/** The body of an upload, up to a limit that is held while it arrives. Throws `tarball_too_large`, `request_invalid`. */
export async function readUpload(request: Request, limitBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of request.body ?? []) {
    length += chunk.length
    if (length > limitBytes) {
      const message = `The tarball has more than ${limitBytes} bytes.`
      const hint = 'Leave large data out by `files` in package.json.'
      throw tarballFailure('tarball_too_large', message, { limit: limitBytes }, hint)
    }
    chunks.push(chunk)
  }
  if (length === 0)
    throw new AgentGymError({
      code: 'request_invalid',
      message: 'The body of the request is empty; it has to be the tarball.',
    })
  return Buffer.concat(chunks, length)
}
