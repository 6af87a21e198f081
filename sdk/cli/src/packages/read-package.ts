import { AgentGymError } from '@agentgym/contract'
import { readTarball } from '@agentgym/runtime/tarball'

/** What an installed package needs: what runs, what describes it, and its license. Sources stay in the tarball. */
const installed =
  /^(package\.json|readme\.md|licen[sc]e(\.md|\.txt)?|dist\/scenario\.js|agent\.json|model\.onnx|learning-curve\.svg)$/i
const limits = { unpackedBytes: 512 * 2 ** 20, entries: 20_000 }

/** The files of a package's tarball that are installed, by path. Throws `integrity_mismatch` if it is not a package. */
export async function readPackage(tarball: Uint8Array): Promise<Map<string, Buffer>> {
  const files = await readTarball(tarball, (path) => (installed.test(path) ? limits.unpackedBytes : undefined), limits)
  if (files.has('package.json')) return files
  throw new AgentGymError({
    code: 'integrity_mismatch',
    message: 'The package cannot be installed: it has no package.json.',
    hint: 'Nothing was installed. Tell the operator of the server.',
  })
}
