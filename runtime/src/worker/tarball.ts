import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { AgentGymError } from '@agentgym/contract'
import { collectTarballFiles, type TarballLimits } from '@agentgym/contract/tarball'

/** Of a path below `package/`, the most bytes that its file may have; undefined: the file is not wanted. */
export type WantedFile = (path: string) => number | undefined

const downloadLimits: TarballLimits = {
  tarballBytes: 1024 * 2 ** 20,
  unpackedBytes: 1024 * 2 ** 20,
  files: 100_000,
  ratio: Number.POSITIVE_INFINITY,
}

/**
 * Reads the wanted files of a published tarball, by their paths below `package/`. The registry checks tarballs, but this
 * does not rely on it: it reads by the same rules, within limits and a deadline. Throws `integrity_mismatch`.
 */
export async function readTarball(
  tarball: Uint8Array,
  wanted: WantedFile,
  limits: Partial<TarballLimits> = {},
): Promise<Map<string, Buffer>> {
  try {
    return await collectTarballFiles(tarball, { ...downloadLimits, ...limits }, 'stored', wanted)
  } catch (error) {
    if (error instanceof AgentGymError) throw unreadable(error.message)
    throw error
  }
}

function unreadable(reason: string): AgentGymError {
  return new AgentGymError({
    code: 'integrity_mismatch',
    message: `The tarball cannot be unpacked: ${reason.replace(/\.$/, '').slice(0, 300)}.`,
    hint: 'Tell the operator of the server: the registry should not have accepted it.',
  })
}

/** Files of a package by path, with the most bytes that each may have. */
export type WantedFiles = Record<string, number>

/** All that running a scenario needs. */
export const scenarioFiles: WantedFiles = { 'package.json': 2 ** 20, 'dist/scenario.js': 32 * 2 ** 20 }
/** All that running an agent needs. */
export const agentFiles: WantedFiles = { 'package.json': 2 ** 20, 'agent.json': 2 ** 20, 'model.onnx': 256 * 2 ** 20 }

/** Writes the wanted files of a tarball into an empty folder. Only paths in `files` are ever written to. */
export async function unpackPackage(
  tarball: Uint8Array,
  folder: string,
  files: WantedFiles,
  limits?: Partial<TarballLimits>,
): Promise<void> {
  const wanted: WantedFile = (file) => (Object.hasOwn(files, file) ? files[file] : undefined)
  for (const [name, bytes] of await readTarball(tarball, wanted, limits)) {
    const file = path.join(folder, name)
    await mkdir(path.dirname(file), { recursive: true })
    await writeFile(file, bytes)
  }
}
