import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { createGunzip } from 'node:zlib'
import { AgentGymError } from '@agentgym/contract'
import { extract } from 'tar-stream'

/** What an installed package needs: what runs, what describes it, and what allows its use. Sources stay in the tarball. */
const wanted =
  /^package\/(package\.json|readme\.md|licen[sc]e(\.md|\.txt)?|dist\/scenario\.js|agent\.json|model\.onnx)$/i
const unpackedLimitBytes = 512 * 2 ** 20
const filesLimit = 20_000

/**
 * Unpacks the few known files of a package into an empty folder. No path of the tarball is ever used that is not one of
 * them, nothing is executed, and reading stops at the limits. Throws `integrity_mismatch` for what is no tarball.
 */
export async function unpackPackage(tarball: Uint8Array, folder: string): Promise<string[]> {
  const archive = extract()
  const gunzip = createGunzip()
  gunzip.on('error', (error) => archive.destroy(error))
  gunzip.pipe(archive)
  gunzip.end(tarball)
  const written: string[] = []
  let bytes = 0
  let entries = 0
  try {
    for await (const entry of archive) {
      entries += 1
      const pieces: Buffer[] = []
      const keep = entry.header.type === 'file' && wanted.test(entry.header.name)
      for await (const piece of entry as AsyncIterable<Buffer>) {
        bytes += piece.length
        if (bytes > unpackedLimitBytes) throw new Error(`it unpacks to more than ${unpackedLimitBytes} bytes`)
        if (keep) pieces.push(piece)
      }
      if (entries > filesLimit) throw new Error(`it holds more than ${filesLimit} files`)
      if (!keep) continue
      const path = entry.header.name.slice('package/'.length)
      await mkdir(dirname(join(folder, path)), { recursive: true })
      // A path that occurs twice is an error, not a choice.
      await writeFile(join(folder, path), Buffer.concat(pieces), { flag: 'wx' })
      written.push(path)
    }
  } catch (error) {
    throw damaged(error instanceof Error ? error.message : String(error))
  }
  if (!written.includes('package.json')) throw damaged('it holds no package.json')
  return written
}

function damaged(reason: string): AgentGymError {
  return new AgentGymError({
    code: 'integrity_mismatch',
    message: `the package cannot be unpacked: ${reason.slice(0, 300)}`,
    hint: 'Nothing was installed. Tell the operator of the server.',
  })
}
