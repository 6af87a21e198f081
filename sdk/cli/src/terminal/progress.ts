import { createLogUpdate } from 'log-update'
import type { CommandContext } from '../command-context.ts'
import { formatBytes, formatCount, formatDuration } from './format-values.ts'
import type { Terminal } from './terminal.ts'
import { fitText } from './text.ts'

type TransferProgress = { update(bytes: number, total: number | null): void; close(): void }

const redrawMs = 100

/** A progress bar with rate and time left for an upload or a download; only on a terminal. */
export function transferProgress(label: string, { terminal, json, io }: CommandContext): TransferProgress {
  if (json || !terminal.live) return { update: () => {}, close: () => {} }
  const draw = createLogUpdate(io.stdout)
  const started = performance.now()
  let last = 0
  return {
    update: (bytes, total) => {
      const now = performance.now()
      if (now - last < redrawMs && bytes !== total) return
      last = now
      const rate = bytes / Math.max((now - started) / 1000, 0.001)
      const left =
        total !== null && bytes > 0 && bytes < total ? `, ${formatDuration((total - bytes) / rate)} left` : ''
      const done = total === null ? formatBytes(bytes) : `${formatBytes(bytes)} / ${formatBytes(total)}`
      const text = `  ${label} ${done}, ${formatBytes(Math.round(rate))}/s${left}`
      const width = terminal.columns() - 1
      const room = width - text.length
      draw(
        room < 8 || total === null
          ? fitText(text.trim(), width, terminal.symbols.ellipsis)
          : progressBar(bytes / Math.max(total, 1), Math.min(40, room), terminal) + text,
      )
    },
    close: () => {
      draw.clear()
      draw.done()
    },
  }
}

type CountProgress = { update(done: number, total: number): void; close(): void }

/** A progress bar with the time left for so many things (`what`: "episodes"); only on a terminal. */
export function countProgress(what: string, { terminal, json, io }: CommandContext): CountProgress {
  if (json || !terminal.live) return { update: () => {}, close: () => {} }
  const draw = createLogUpdate(io.stdout)
  const started = performance.now()
  let last = 0
  return {
    update: (done: number, total: number) => {
      const now = performance.now()
      if (now - last < 100 && done < total) return
      last = now
      const seconds = (now - started) / 1000
      const left = done > 0 && done < total ? `, ${formatDuration((seconds / done) * (total - done))} left` : ''
      const text = `  ${formatCount(done)} / ${formatCount(total)} ${what}${left}`
      const width = terminal.columns() - 1
      const room = width - text.length
      draw(
        room < 8
          ? fitText(text.trim(), width)
          : progressBar(done / Math.max(total, 1), Math.min(40, room), terminal) + text,
      )
    },
    close: () => {
      draw.clear()
      draw.done()
    },
  }
}

/** A bar of `width` columns, `fraction` of it done. */
export function progressBar(fraction: number, width: number, terminal: Terminal): string {
  const done = Math.round(Math.min(Math.max(fraction, 0), 1) * Math.max(0, width))
  const { symbols, paint } = terminal
  return paint.accent(symbols.barDone.repeat(done)) + paint.dim(symbols.barLeft.repeat(Math.max(0, width - done)))
}
