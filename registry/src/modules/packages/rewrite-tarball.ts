import { collectTarballFiles, type TarballLimits, writePublishedTarball } from '@agentgym/contract/tarball'
import type { Tarball } from './read-tarball.ts'

/** Unpacked; smaller packages never wait. */
const smallBytes = 16 * 2 ** 20
/** Large packages rewritten at a time: each is unpacked in memory. */
const largeAtOnce = 2
let largeUnderWay = 0
const waiting: (() => void)[] = []

/**
 * Writes an uploaded tarball again, in the registry's own form: only these bytes are stored and served, so that no reader
 * sees the uploader's archive. package.json is that of an installed package, without scripts and dependencies; the other
 * files are unchanged. `read` is what `readTarball` has read from `bytes`. Returns the new bytes, and their numbers in
 * `tarball`, whose manifest stays as uploaded.
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
