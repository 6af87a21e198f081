import { createLogUpdate } from 'log-update'
import type { CommandContext } from '../command-context.ts'
import { fitText } from './fit-text.ts'
import { formatCount, formatDuration } from './format-figures.ts'
import { progressBar } from './progress-bar.ts'

export type EpisodeProgress = { update(done: number, total: number): void; close(): void }

/** A bar for held-out episodes, with the time left; nothing where nobody watches. */
export function episodeProgress({ terminal, json, io }: CommandContext): EpisodeProgress {
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
      const figures = `  ${formatCount(done)} / ${formatCount(total)} episodes${left}`
      const width = terminal.columns() - 1
      const room = width - figures.length
      draw(
        room < 8
          ? fitText(figures.trim(), width)
          : progressBar(done / Math.max(total, 1), Math.min(40, room), terminal) + figures,
      )
    },
    close: () => {
      draw.clear()
      draw.done()
    },
  }
}
