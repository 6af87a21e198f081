import { setTimeout as sleep } from 'node:timers/promises'
import { publishPackage, versionPath } from '@agentgym/client'
import { AgentGymError, type VersionDetails, versionDetailsSchema } from '@agentgym/contract'
import type { PackedTarball } from '@agentgym/runtime/tarball'
import { createLogUpdate } from 'log-update'
import type { Connection } from '../account/connection.ts'
import type { CommandContext } from '../command-context.ts'
import { cancelOnInterrupt } from '../command-io.ts'
import { callApi, clientOf, explained } from '../registry/call-api.ts'
import { formatBytes, formatDuration } from '../terminal/format-values.ts'
import { transferProgress } from '../terminal/progress.ts'
import { renderTable } from '../terminal/table.ts'
import { safeText } from '../terminal/text.ts'

type PublishTo = { tag?: string; private?: boolean }

/** Uploads a package, with a bar where somebody watches. */
export async function uploadHere(
  packed: PackedPackage,
  connection: Connection,
  flags: PublishTo,
  context: CommandContext,
): Promise<Upload> {
  const label = safeText(`${packed.name}@${packed.version}`, 240)
  const { paint, symbols } = context.terminal
  context.say(`${symbols.next} Upload ${paint.bold(label)} to ${connection.server} (${packedText(packed)})`)
  const progress = transferProgress('uploaded', context)
  let upload: Upload
  try {
    upload = await uploadPackage(connection, packed, { ...flags, onProgress: progress.update })
  } finally {
    progress.close()
  }
  context.say(`${paint.accent(symbols.ok)} ${upload.decided ? 'Had been uploaded before' : 'Uploaded'}`)
  return upload
}

function packedText({ bytes, files, unpackedBytes }: PackedPackage): string {
  return `${formatBytes(bytes.length)}, ${files.length} files, ${formatBytes(unpackedBytes)} unpacked`
}

/** What would go where; uploads nothing. `more` is what there is to tell besides, as JSON and as lines. */
export function sayDryRun(
  packed: PackedPackage,
  more: { json: Record<string, unknown>; lines: string[] },
  { server }: Connection,
  flags: PublishTo,
  context: CommandContext,
): void {
  const { name, version, integrity, files, unpackedBytes } = packed
  const visibility = flags.private ? 'private' : 'public'
  context.sayJson({
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
  context.say(`${paint.bold(safeText(`${name}@${version}`, 240))} would go to ${server}, ${visibility}`)
  const rows = files.map((file) => [safeText(file.path, 240), formatBytes(file.bytes)])
  const columns = [
    { title: 'File', shrink: true },
    { title: 'Size', align: 'right' as const },
  ]
  for (const line of renderTable(columns, rows, terminal)) context.say(`  ${line}`)
  context.say(`  ${paint.dim('tarball')} ${packedText(packed)}`)
  context.say(`  ${paint.dim('integrity')} ${integrity}`)
  for (const line of more.lines) context.say(`  ${line}`)
  context.say(`${symbols.next} Nothing was uploaded. Without --dry-run it is.`)
}

/** Waits until the server has checked a version. Leaving it waiting is an error, for the outcome is not known. */
export async function waitHere(
  connection: Connection,
  packed: PackedPackage,
  upload: Upload,
  context: CommandContext,
): Promise<VersionDetails> {
  const { terminal, json, io } = context
  const draw = !json && terminal.live ? createLogUpdate(io.stdout) : undefined
  if (!draw) context.say(`${terminal.symbols.next} The server checks it in its own sandbox`)
  const interrupt = cancelOnInterrupt(context)
  try {
    return await waitForChecks(connection, packed, {
      signal: interrupt.signal,
      onWait: (seconds) => draw?.(terminal.paint.dim(`  The server checks it, ${formatDuration(seconds)}`)),
    })
  } catch (error) {
    if (!interrupt.signal.aborted) throw error
    throw new AgentGymError({
      code: 'version_not_published',
      message: `${packed.name}@${packed.version} is uploaded and still being checked`,
      hint: `The server goes on by itself: agentgym info ${packed.name}@${packed.version} tells how it went.`,
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
  /** These very bytes had been uploaded and checked before. */
  decided: boolean
}

/** Below this an upload is over before a bar could be read. */
const streamedBytes = 256 * 1024
const firstPauseMs = 300
const longestPauseMs = 2_000

/**
 * Uploads a packed package. Doing it again with the same bytes is no error: whoever was cut off goes on where they were.
 * Throws the server's errors, `version_exists` for other bytes under a spent number.
 */
async function uploadPackage(connection: Connection, packed: PackedPackage, options: UploadOptions): Promise<Upload> {
  const { name, version, bytes } = packed
  const { url, state } = await explained(connection, () =>
    publishPackage(clientOf(connection), {
      name,
      version,
      tarball: bytes,
      tag: options.tag,
      visibility: options.private ? 'private' : undefined,
      onProgress: bytes.length > streamedBytes ? options.onProgress : undefined,
    }),
  )
  return { url, decided: state !== 'checking' }
}

/** Waits until the server's checks of a version are through. `onWait` is called before each question. */
async function waitForChecks(
  connection: Connection,
  { name, version }: { name: string; version: string },
  options: { signal: AbortSignal; onWait?: (seconds: number) => void },
): Promise<VersionDetails> {
  const started = performance.now()
  let pauseMs = firstPauseMs
  for (;;) {
    const answer = await readPatiently(connection, name, version)
    if (answer !== undefined && answer.state !== 'checking') return answer
    options.onWait?.((performance.now() - started) / 1000)
    await sleep(pauseMs, undefined, { signal: options.signal })
    pauseMs = Math.min(pauseMs * 1.3, longestPauseMs)
  }
}

export function readVersion(connection: Connection, name: string, version: string): Promise<VersionDetails> {
  return callApi(connection, { path: versionPath(name, version), answer: versionDetailsSchema })
}

/** A server that restarts while it checks is no reason to give up; undefined says nothing was heard. */
async function readPatiently(
  connection: Connection,
  name: string,
  version: string,
): Promise<VersionDetails | undefined> {
  try {
    return await readVersion(connection, name, version)
  } catch (error) {
    if (error instanceof AgentGymError && (error.code === 'server_unreachable' || error.code === 'rate_limited'))
      return undefined
    throw error
  }
}

/** A package as it goes to the registry. */
export type PackedPackage = PackedTarball & {
  name: string
  version: string
  files: { path: string; bytes: number }[]
  unpackedBytes: number
}
