import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { readTarball, type WantedFile } from '@agentgym/agent/packages'
import type { TarballLimits } from '@agentgym/contract/tarball'

/** Files of a package by path, with the most bytes that each may have. */
export type WantedFiles = Record<string, number>

/** All that running a scenario needs. */
export const scenarioFiles: WantedFiles = {
  'package.json': 2 ** 20,
  'dist/scenario.js': 32 * 2 ** 20,
  'dist/scenario.js.map': 32 * 2 ** 20,
}
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
