import { randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { AgentGymError, fileFailure } from '@agentgym/contract'
import type { CommandContext } from '../command-context.ts'
import { formatBytes } from '../terminal/format-values.ts'
import { transferProgress } from '../terminal/progress.ts'
import { safeText } from '../terminal/text.ts'

export type Export = {
  /** The option that names the file, for errors: `--out`. */
  option: string
  fetch(): Promise<Response>
  /** Fields of the JSON line beside path and size. */
  about: Record<string, unknown>
}

/**
 * Writes an export of the server to a file; `-` is stdout, which cannot be combined with `--json`. Resolves to the size
 * in bytes; undefined for stdout.
 */
export async function exportTo(
  file: string,
  { option, fetch, about }: Export,
  context: CommandContext,
): Promise<number | undefined> {
  if (file === '-' && context.json) {
    throw new AgentGymError({
      code: 'usage_invalid',
      message: `${option} - and --json both write to stdout`,
      hint: 'Remove one of them.',
    })
  }
  const response = await fetch()
  const body = Readable.from(response.body ?? [])
  if (file === '-') {
    await pipeline(body, context.io.stdout, { end: false })
    return undefined
  }
  const out = context.resolve(file)
  const bytes = await writeWhole(body, out, option, context)
  context.printJson({ ok: true, ...about, path: out, bytes })
  const { paint, symbols } = context.terminal
  const shown = paint.bold(safeText(context.displayPath(out)))
  context.print(`${paint.accent(symbols.ok)} Wrote ${shown} ${paint.dim(`(${formatBytes(bytes)})`)}`)
  return bytes
}

/** Atomically: an existing file stays until the last byte has arrived. */
async function writeWhole(body: Readable, out: string, option: string, context: CommandContext): Promise<number> {
  const temporary = `${out}.${randomUUID()}.tmp`
  const progress = transferProgress('exported', context)
  let bytes = 0
  try {
    body.on('data', (piece: Uint8Array) => {
      bytes += piece.length
      progress.update(bytes, null)
    })
    await pipeline(body, createWriteStream(temporary))
    await rename(temporary, out)
  } catch (error) {
    throw explainFailure(error, out, option, context)
  } finally {
    progress.close()
    await rm(temporary, { force: true })
  }
  return bytes
}

function explainFailure(error: unknown, out: string, option: string, context: CommandContext): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (['ENOENT', 'EISDIR', 'ENOTDIR'].includes(code)) {
    const message = `${context.displayPath(out)} cannot be written (${code})`
    const hint = `Choose a file in an existing folder with ${option} FILE.`
    return new AgentGymError({ code: 'file_not_found', message, hint, data: { path: out } }, { cause: error })
  }
  if (!(error instanceof TypeError)) return fileFailure(error, out)
  // What fetch throws when the connection breaks during a response.
  const hint = 'Run the command again; nothing was written.'
  return new AgentGymError(
    { code: 'server_unreachable', message: 'the connection was lost during the export', hint },
    { cause: error },
  )
}
