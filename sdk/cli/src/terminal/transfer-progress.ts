import { createLogUpdate } from 'log-update'
import type { CommandContext } from '../command-context.ts'
import { fitText } from './fit-text.ts'
import { formatBytes, formatDuration } from './format-figures.ts'
import { progressBar } from './progress-bar.ts'

export type TransferProgress = { update(bytes: number, total: number | null): void; close(): void }

const redrawMs = 100

/** A bar with rate and time left for an upload or a download; nothing where nobody watches. */
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
      const figures = `  ${label} ${done}, ${formatBytes(Math.round(rate))}/s${left}`
      const width = terminal.columns() - 1
      const room = width - figures.length
      draw(
        room < 8 || total === null
          ? fitText(figures.trim(), width, terminal.symbols.ellipsis)
          : progressBar(bytes / Math.max(total, 1), Math.min(40, room), terminal) + figures,
      )
    },
    close: () => {
      draw.clear()
      draw.done()
    },
  }
}
