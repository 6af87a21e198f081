import { collectTarballFiles, type TarballLimits, writeTarball } from '@agentgym/contract/tarball'
import { parseManifest } from './parse-manifest.ts'

const manifestPath = 'package.json'

/**
 * The same package with another name, version or summary: files are unchanged except for those fields of package.json.
 * Deterministic. Throws the codes `tarball_…` and `package_manifest_…`.
 */
export async function renameTarball(
  bytes: Uint8Array,
  changes: { name?: string; version?: string; summary?: string | null },
  limits: TarballLimits,
): Promise<Uint8Array<ArrayBuffer>> {
  const files = await collectTarballFiles(bytes, limits, 'upload', () => limits.unpackedBytes)
  const packed = [...files].map(([path, body]) => ({
    path,
    bytes: path === manifestPath ? Buffer.from(renamed(body, changes)) : body,
  }))
  return (await writeTarball(packed)).bytes
}

type Changes = Parameters<typeof renameTarball>[1]

function renamed(manifest: Buffer, { summary, ...identity }: Changes): string {
  const fields = { ...parseManifest(manifest), ...identity }
  return `${JSON.stringify(summary == null ? fields : withSummary(fields, summary), null, 2)}\n`
}

function withSummary(manifest: Record<string, unknown>, summary: string): Record<string, unknown> {
  const { agentgym } = manifest
  const field = typeof agentgym === 'object' && agentgym !== null ? { agentgym: { ...agentgym, summary } } : {}
  return { ...manifest, description: summary, ...field }
}
