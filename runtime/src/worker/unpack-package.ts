import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { createGunzip } from 'node:zlib'
import { AgentGymError } from '@agentgym/contract'
import { extract } from 'tar-stream'

/** Files of a package, with the most bytes each may have. Nothing else of a tarball ever reaches the disk. */
export type WantedFiles = Record<string, number>

/** All that playing a scenario needs. */
export const scenarioFiles: WantedFiles = { 'package.json': 2 ** 20, 'dist/scenario.js': 32 * 2 ** 20 }
/** All that playing with an agent needs. */
export const agentFiles: WantedFiles = { 'package.json': 2 ** 20, 'agent.json': 2 ** 20, 'model.onnx': 256 * 2 ** 20 }

const usualLimits = { unpackedBytes: 1024 * 2 ** 20, entries: 100_000 }

/**
 * Writes the wanted files of a published tarball into an empty folder. No path that the tarball names is used, links are
 * passed over, and reading stops at the limits: the registry has looked at the tarball, and this does not rely on it.
 * Throws `integrity_mismatch` for what cannot be read.
 */
export async function unpackPackage(
  tarball: Uint8Array,
  folder: string,
  files: WantedFiles,
  limits = usualLimits,
): Promise<void> {
  const wanted = new Map(Object.entries(files).map(([file, bytes]) => [`package/${file}`, bytes]))
  for (const [name, bytes] of await readWanted(tarball, wanted, limits)) {
    const file = path.join(folder, name.slice('package/'.length))
    await mkdir(path.dirname(file), { recursive: true })
    await writeFile(file, bytes)
  }
}

async function readWanted(
  tarball: Uint8Array,
  wanted: Map<string, number>,
  limits: typeof usualLimits,
): Promise<Map<string, Buffer>> {
  const archive = extract()
  const gunzip = createGunzip()
  gunzip.on('error', (error) => archive.destroy(error))
  gunzip.pipe(archive)
  gunzip.end(tarball)
  const found = new Map<string, Buffer>()
  let unpacked = 0
  let entries = 0
  try {
    for await (const entry of archive) {
      const { name, type } = entry.header
      const limit = type === 'file' ? wanted.get(name) : undefined
      if (limit !== undefined && found.has(name)) throw new Error(`${name} is there twice`)
      const chunks: Buffer[] = []
      let size = 0
      for await (const chunk of entry as AsyncIterable<Buffer>) {
        unpacked += chunk.length
        size += chunk.length
        if (unpacked > limits.unpackedBytes) throw new Error(`it unpacks to more than ${limits.unpackedBytes} bytes`)
        if (limit === undefined) continue
        if (size > limit) throw new Error(`${name} is larger than ${limit} bytes`)
        chunks.push(chunk)
      }
      if (limit !== undefined) found.set(name, Buffer.concat(chunks))
      entries += 1
      if (entries > limits.entries) throw new Error(`it has more than ${limits.entries} entries`)
    }
  } catch (error) {
    throw unreadable(error instanceof Error ? error.message : String(error))
  } finally {
    gunzip.destroy()
  }
  return found
}

function unreadable(reason: string): AgentGymError {
  return new AgentGymError({
    code: 'integrity_mismatch',
    message: `The tarball cannot be unpacked: ${reason.slice(0, 300)}.`,
    hint: 'Tell the operator of the server: the registry should not have taken it.',
  })
}
