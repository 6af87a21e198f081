import { collectTarballFiles, type TarballLimits, writePublishedTarball } from '@agentgym/contract/tarball'
import type { Tarball } from './read-tarball.ts'

/** Unpacked size. Smaller packages never wait. */
const smallBytes = 16 * 2 ** 20
/** Maximum number of large packages rewritten at once, because each is unpacked in memory. */
const largeAtOnce = 2
let largeUnderWay = 0
const waiting: (() => void)[] = []

/**
 * Rewrites an uploaded tarball in the registry's own form. Only these bytes are stored and served, so that readers
 * never get the uploader's archive. package.json becomes that of an installed package, without scripts and
 * dependencies; other files are unchanged. `read` is the result of `readTarball` for `bytes`. Returns the new bytes and
 * their `tarball`, with the uploaded manifest.
 */
export async function rewriteTarball(
  bytes: Uint8Array,
  limits: TarballLimits,
  read: Tarball,
  form: 'upload' | 'stored' = 'upload',
): Promise<{ bytes: Uint8Array<ArrayBuffer>; tarball: Tarball }> {
  return inTurn(read.unpackedSize, async () => {
    const files = await collectTarballFiles(bytes, limits, form, () => limits.unpackedBytes)
    const packed = [...files].map(([path, content]) => ({ path, bytes: content }))
    const written = await writePublishedTarball(packed, read.manifest)
    const { integrity, shasum } = written
    const numbers = { size: written.bytes.length, unpackedSize: written.unpackedBytes, integrity, shasum }
    return { bytes: written.bytes, tarball: { ...read, ...numbers } }
  })
}

async function inTurn<Result>(unpackedBytes: number, work: () => Promise<Result>): Promise<Result> {
  if (unpackedBytes <= smallBytes) return work()
  if (largeUnderWay >= largeAtOnce) await new Promise<void>((resolve) => waiting.push(resolve))
  else largeUnderWay++
  try {
    return await work()
  } finally {
    const next = waiting.shift()
    if (next === undefined) largeUnderWay--
    else next()
  }
}
