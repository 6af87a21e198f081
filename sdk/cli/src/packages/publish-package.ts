import { setTimeout as sleep } from 'node:timers/promises'
import { publishPackage, versionPath } from '@agentgym/client'
import { AgentGymError, type VersionDetails, versionDetailsSchema } from '@agentgym/contract'
import { createLogUpdate } from 'log-update'
import type { Connection } from '../account/connection.ts'
import type { CommandContext } from '../command-context.ts'
import { cancelOnInterrupt } from '../command-io.ts'
import { callApi, clientOf, explained, isOutage, outlastingOutage } from '../registry/call-api.ts'
import { noteMissingWorker } from '../registry/missing-worker.ts'
import { formatBytes, formatDuration } from '../terminal/format-values.ts'
import { transferProgress } from '../terminal/progress.ts'
import { renderTable } from '../terminal/table.ts'
import { safeText } from '../terminal/text.ts'

type PublishTo = { tag?: string; private?: boolean }

/** Uploads a package, with a progress bar on a terminal. */
export async function uploadWithProgress(
  packed: PackedPackage,
  connection: Connection,
  flags: PublishTo,
  context: CommandContext,
): Promise<Upload> {
  const label = safeText(`${packed.name}@${packed.version}`, 240)
  const { paint, symbols } = context.terminal
  context.print(`${symbols.next} Upload ${paint.bold(label)} to ${connection.server} (${packedText(packed)})`)
  const progress = transferProgress('uploaded', context)
  let upload: Upload
  try {
    upload = await uploadPackage(connection, packed, { ...flags, onProgress: progress.update })
  } finally {
    progress.close()
  }
  context.print(`${paint.accent(symbols.ok)} ${upload.decided ? 'Already uploaded' : 'Uploaded'}`)
  return upload
}

function packedText({ bytes, files, unpackedBytes }: PackedPackage): string {
  return `${formatBytes(bytes.length)}, ${files.length} files, ${formatBytes(unpackedBytes)} unpacked`
}

/** Shows what would be uploaded. `more` are further JSON fields and lines. */
export function printDryRun(
  packed: PackedPackage,
  more: { json: Record<string, unknown>; lines: string[] },
  { server }: Connection,
  flags: PublishTo,
  context: CommandContext,
): void {
  const { name, version, integrity, files, unpackedBytes } = packed
  const visibility = flags.private ? 'private' : 'public'
  context.printJson({
    dry_run: true,
    name,
    version,
    tag: flags.tag ?? null,
    visibility,
    server,
    integrity,
    bytes: packed.bytes.length,
    unpacked_bytes: unpackedBytes,
    ...more.json,
    files,
  })
  const { terminal } = context
  const { paint, symbols } = terminal
  context.print(`${paint.bold(safeText(`${name}@${version}`, 240))} would be published to ${server}, ${visibility}`)
  const rows = files.map((file) => [safeText(file.path, 240), formatBytes(file.bytes)])
  const columns = [
    { title: 'File', shrink: true },
    { title: 'Size', align: 'right' as const },
  ]
  for (const line of renderTable(columns, rows, terminal)) context.print(`  ${line}`)
  context.print(`  ${paint.dim('tarball')} ${packedText(packed)}`)
  context.print(`  ${paint.dim('integrity')} ${integrity}`)
  for (const line of more.lines) context.print(`  ${line}`)
  context.print(`${symbols.next} Dry run: nothing was uploaded.`)
}

/** Waits until the server has checked a version, and verified an agent or not. An interrupt is an error: the outcome is unknown. */
export async function awaitChecks(
  connection: Connection,
  packed: PackedPackage,
  upload: Upload,
  context: CommandContext,
): Promise<VersionDetails> {
  const { terminal, json, io } = context
  const draw = !json && terminal.live ? createLogUpdate(io.stdout) : undefined
  if (!draw) context.print(`${terminal.symbols.next} Waiting for the server's checks`)
  if (!upload.decided) await noteMissingWorker(connection, context)
  const interrupt = cancelOnInterrupt(context)
  try {
    return await waitForChecks(connection, packed, {
      signal: interrupt.signal,
      onWait: (seconds) => draw?.(terminal.paint.dim(`  Waiting for the server's checks, ${formatDuration(seconds)}`)),
    })
  } catch (error) {
    if (!interrupt.signal.aborted) throw error
    throw new AgentGymError({
      code: 'version_not_published',
      message: `${packed.name}@${packed.version} is uploaded, but the server's checks have not finished`,
      hint: `The checks continue on the server. Show the result: agentgym info ${packed.name}@${packed.version}`,
      data: { name: packed.name, version: packed.version, state: 'checking', url: upload.url },
    })
  } finally {
    interrupt.release()
    draw?.clear()
    draw?.done()
  }
}

type UploadOptions = {
  tag?: string
  private?: boolean
  onProgress?: (sentBytes: number, totalBytes: number) => void
}

export type Upload = {
  /** Address of the package's page. */
  url: string
  /** Of the tarball that the server serves (`sha512-…`). */
  integrity: string
  /** The same bytes were uploaded and checked before. */
  decided: boolean
}

/** Smaller uploads finish before a bar could be read. */
const streamedBytes = 256 * 1024
const firstPauseMs = 300
const longestPauseMs = 2_000

/**
 * Uploads a package. Repeating it with the same bytes is not an error, so an interrupted upload can be retried.
 * Throws the server's errors, `version_exists` for other bytes under a used version.
 */
async function uploadPackage(connection: Connection, packed: PackedPackage, options: UploadOptions): Promise<Upload> {
  const { name, version, bytes } = packed
  const upload = () =>
    publishPackage(clientOf(connection), {
      name,
      version,
      tarball: bytes,
      tag: options.tag,
      visibility: options.private ? 'private' : undefined,
      onProgress: bytes.length > streamedBytes ? options.onProgress : undefined,
    })
  const published = await explained(connection, () => outlastingOutage(upload))
  const { url, state, integrity, served_integrity: served = integrity } = published
  return { url, integrity: served, decided: state !== 'checking' }
}

/** Waits until the server has checked a version. `onWait` is called before each poll. */
async function waitForChecks(
  connection: Connection,
  { name, version }: { name: string; version: string },
  options: { signal: AbortSignal; onWait?: (seconds: number) => void },
): Promise<VersionDetails> {
  const started = performance.now()
  let pauseMs = firstPauseMs
  for (;;) {
    const answer = await readPatiently(connection, name, version)
    const isDecided = answer?.state !== 'checking' && answer?.verification?.state !== 'pending'
    if (answer !== undefined && isDecided) return answer
    options.onWait?.((performance.now() - started) / 1000)
    await sleep(pauseMs, undefined, { signal: options.signal })
    pauseMs = Math.min(pauseMs * 1.3, longestPauseMs)
  }
}

export function readVersion(connection: Connection, name: string, version: string): Promise<VersionDetails> {
  return callApi(connection, { path: versionPath(name, version), answer: versionDetailsSchema })
}

/** Undefined while the server cannot be reached: it may be restarting. */
async function readPatiently(
  connection: Connection,
  name: string,
  version: string,
): Promise<VersionDetails | undefined> {
  try {
    return await readVersion(connection, name, version)
  } catch (error) {
    const passing = ['server_unreachable', 'rate_limited', 'request_timeout']
    if (isOutage(error) || (error instanceof AgentGymError && passing.includes(error.code))) return undefined
    throw error
  }
}

/** A package ready for upload. */
export type PackedPackage = {
  name: string
  version: string
  bytes: Uint8Array<ArrayBuffer>
  /** Of the tarball that the registry serves (`sha512-…`), which it writes without scripts and dependencies. */
  integrity: string
  files: { path: string; bytes: number }[]
  unpackedBytes: number
}
