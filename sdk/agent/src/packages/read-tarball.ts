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
