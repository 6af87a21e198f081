import { AgentGymError } from '@agentgym/contract'
import { readTarball } from './read-tarball.ts'

/** What an installed package needs: what runs, what its errors are located by, what describes it, and its license. Sources stay in the tarball. */
const installed = /^(package\.json|dist\/scenario\.js(\.map)?|agent\.json|model\.onnx|learning-curve\.svg)$/
/** What people read may have any case, as on npm. */
const shown = /^(readme\.md|licen[sc]e(\.md|\.txt)?)$/i
const limits = { unpackedBytes: 512 * 2 ** 20, files: 20_000 }

/** The files of a package's tarball that are installed, by path. Throws `integrity_mismatch` if it is not a package. */
export async function readPackage(tarball: Uint8Array): Promise<Map<string, Buffer>> {
  const files = await readTarball(
    tarball,
    (path) => (installed.test(path) || shown.test(path) ? limits.unpackedBytes : undefined),
    limits,
  )
  if (files.has('package.json')) return files
  throw new AgentGymError({
    code: 'integrity_mismatch',
    message: 'The package cannot be installed: it has no package.json.',
    hint: 'Nothing was installed. Contact the operator of the server.',
  })
}
