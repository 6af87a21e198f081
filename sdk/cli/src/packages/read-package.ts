import { createGunzip } from 'node:zlib'
import { AgentGymError } from '@agentgym/contract'
import { extract } from 'tar-stream'

/** What an installed package needs: what runs, what describes it, and what allows its use. Sources stay in the tarball. */
const wanted =
  /^package\/(package\.json|readme\.md|licen[sc]e(\.md|\.txt)?|dist\/scenario\.js|agent\.json|model\.onnx|learning-curve\.svg)$/i
const unpackedLimitBytes = 512 * 2 ** 20
const filesLimit = 20_000

/**
 * The few known files of a package's tarball, by path. No path of the tarball is ever used that is not one of them, links
 * are passed over, and reading stops at the limits. Throws `integrity_mismatch` for what is no package.
 */
export async function readPackage(tarball: Uint8Array): Promise<Map<string, Buffer>> {
  const archive = extract()
  const gunzip = createGunzip()
  gunzip.on('error', (error) => archive.destroy(error))
  gunzip.pipe(archive)
  gunzip.end(tarball)
  const found = new Map<string, Buffer>()
  let bytes = 0
  let entries = 0
  try {
    for await (const entry of archive) {
      const { name, type } = entry.header
      const path = type === 'file' && wanted.test(name) ? name.slice('package/'.length) : undefined
      const pieces: Buffer[] = []
      for await (const piece of entry as AsyncIterable<Buffer>) {
        bytes += piece.length
        if (bytes > unpackedLimitBytes) throw new Error(`it unpacks to more than ${unpackedLimitBytes} bytes`)
        if (path !== undefined) pieces.push(piece)
      }
      entries += 1
      if (entries > filesLimit) throw new Error(`it holds more than ${filesLimit} files`)
      if (path === undefined) continue
      // Which of the two is meant would be a choice.
      if (found.has(path)) throw new Error(`${path} is there twice`)
      found.set(path, Buffer.concat(pieces))
    }
  } catch (error) {
    throw damaged(error instanceof Error ? error.message : String(error))
  } finally {
    gunzip.destroy()
  }
  if (!found.has('package.json')) throw damaged('it holds no package.json')
  return found
}

function damaged(reason: string): AgentGymError {
  return new AgentGymError({
    code: 'integrity_mismatch',
    message: `the package cannot be unpacked: ${reason.slice(0, 300)}`,
    hint: 'Nothing was installed. Tell the operator of the server.',
  })
}
