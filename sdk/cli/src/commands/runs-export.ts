import { createWriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { resolve } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { AgentGymError } from '@agentgym/contract'
import { findConnection } from '../account/connection.ts'
import type { CommandContext } from '../command-context.ts'
import { clientOf, explained } from '../registry/registry-api.ts'
import { findRun } from '../runs/find-run.ts'
import { runPath } from '../runs/run-api.ts'
import { shortRunId } from '../runs/short-run-id.ts'
import { displayPath } from '../terminal/display-path.ts'
import { formatBytes } from '../terminal/format-figures.ts'
import { safeText } from '../terminal/safe-text.ts'
import { transferProgress } from '../terminal/transfer-progress.ts'

export type RunsExportFlags = { csv?: boolean; tensorboard?: boolean; trajectories?: boolean; out?: string }

/** What may be exported: its address below the run's, and the file's name here. TensorBoard looks for `tfevents` in it. */
const formats = {
  csv: { path: 'metrics.csv', file: (id: string) => `run-${id}.csv` },
  tensorboard: { path: 'metrics.tfevents', file: (id: string) => `run-${id}.tfevents` },
  trajectories: { path: 'trajectories', file: (id: string) => `run-${id}-trajectories.ndjson` },
} as const
type Format = keyof typeof formats

/** `agentgym runs export`: a run's learning curve or sampled trajectories as a file; `--out -` writes to stdout. */
export async function runsExport(text: string, flags: RunsExportFlags, context: CommandContext): Promise<void> {
  const format = formatOf(flags)
  if (flags.out === '-' && context.json) {
    throw new AgentGymError({
      code: 'usage_invalid',
      message: '--out - writes the export to stdout, where --json prints its own line',
      hint: 'Leave one of the two out.',
    })
  }
  const connection = await findConnection()
  const run = await findRun(connection, text)
  const { path, file } = formats[format]
  const response = await explained(connection, () => clientOf(connection).send(`${runPath(run.id)}/${path}`))
  const body = Readable.from(response.body ?? [])
  if (flags.out === '-') return pipeline(body, process.stdout, { end: false })

  const out = resolve(flags.out ?? file(shortRunId(run.id)))
  const bytes = await writeWhole(body, out, context)
  context.sayJson({ ok: true, run: run.id, format, path: out, bytes })
  const { paint, symbols } = context.terminal
  const shown = paint.bold(safeText(displayPath(out)))
  if (format === 'trajectories' && bytes === 0) {
    context.say(`${symbols.warning} No trajectory was sampled: the run was started without --trajectories N`)
  }
  context.say(`${paint.accent(symbols.ok)} Wrote ${shown} ${paint.dim(`(${formatBytes(bytes)})`)}`)
}

function formatOf(flags: RunsExportFlags): Format {
  const chosen = (Object.keys(formats) as Format[]).filter((format) => flags[format])
  if (chosen.length <= 1) return chosen[0] ?? 'csv'
  throw new AgentGymError({
    code: 'usage_invalid',
    message: `one export has one format, and ${chosen.map((format) => `--${format}`).join(' and ')} were given`,
    hint: 'Run the command once for each.',
  })
}

/** Whole or not at all: what is there stays until the last byte has come. */
async function writeWhole(body: Readable, out: string, context: CommandContext): Promise<number> {
  const temporary = `${out}.${process.pid}.tmp`
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
    throw explainFailure(error, out)
  } finally {
    progress.close()
    await rm(temporary, { force: true })
  }
  return bytes
}

function explainFailure(error: unknown, out: string): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (['ENOENT', 'EACCES', 'EISDIR', 'ENOTDIR'].includes(code)) {
    const message = `${displayPath(out)} cannot be written (${code})`
    const hint = 'Name a file in a folder that is there, with --out FILE.'
    return new AgentGymError({ code: 'file_not_found', message, hint, data: { path: out } }, { cause: error })
  }
  if (!(error instanceof TypeError)) return error
  // What fetch says where the connection breaks in the middle of an answer.
  const hint = 'Run the command again; nothing was written.'
  return new AgentGymError({ code: 'server_unreachable', message: 'the export broke off', hint }, { cause: error })
}
