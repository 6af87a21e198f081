import { AgentGymError, type VersionDetails } from '@agentgym/contract'
import { createLogUpdate } from 'log-update'
import type { Connection } from '../account/connection.ts'
import type { CommandContext } from '../command-context.ts'
import { cancelOnInterrupt } from '../interrupts.ts'
import { formatBytes, formatDuration } from '../terminal/format-figures.ts'
import { safeText } from '../terminal/safe-text.ts'
import { renderTable } from '../terminal/table.ts'
import { transferProgress } from '../terminal/transfer-progress.ts'
import type { PackedPackage } from './packed-package.ts'
import { type Upload, uploadPackage, waitForChecks } from './upload-package.ts'

export type PublishTo = { tag?: string; private?: boolean }

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
