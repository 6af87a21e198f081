import { collectTarballFiles, type TarballLimits, writeTarball } from '@agentgym/contract/tarball'
import { parseManifest } from './parse-manifest.ts'

const manifestPath = 'package.json'

/**
 * The same package with another name and version: files are unchanged except for those two fields of package.json.
 * Deterministic. Throws the codes `tarball_…` and `package_manifest_…`.
 */
export async function renameTarball(
  bytes: Uint8Array,
  { name, version }: { name: string; version: string },
  limits: TarballLimits,
): Promise<Uint8Array<ArrayBuffer>> {
  const files = await collectTarballFiles(bytes, limits, 'upload', () => limits.unpackedBytes)
  const packed = [...files].map(([path, body]) => ({
    path,
    bytes: path === manifestPath ? Buffer.from(renamed(body, { name, version })) : body,
  }))
  return (await writeTarball(packed)).bytes
}

function renamed(manifest: Buffer, identity: { name: string; version: string }): string {
  return `${JSON.stringify({ ...parseManifest(manifest), ...identity }, null, 2)}\n`
}
