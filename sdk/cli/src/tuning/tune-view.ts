import { createLogUpdate } from 'log-update'
import type { CommandContext } from '../command-context.ts'
import { formatCount, formatDuration, formatValue } from '../terminal/format-values.ts'
import { progressBar } from '../terminal/progress.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { fitText, padText, safeText } from '../terminal/text.ts'

/** A study as the views show it. */
export type TuneState = {
  phase: 'search' | 'confirm'
  /** Environment steps of this phase: done, of the jobs that run, and in all. */
  done: number
  running: ReadonlyMap<string, number>
  total: number
  rungs: { steps: number; candidates: number; best: number | null }[]
  /** `#14: learning_rate 0.0021 · …`; null before the first result. */
  best: string | null
}

export type TuneView = {
  update(state: TuneState): void
  /** A line that stays: what a finished job came to. */
  finished(line: string, state: TuneState): void
  stopping(): void
  close(): void
}

const redrawMs = 150

/** A block that is redrawn on a terminal; elsewhere one line for each finished job. */
export function tuneView({ terminal, json, io, print }: CommandContext): TuneView {
  if (json) return { update: () => {}, finished: () => {}, stopping: () => {}, close: () => {} }
  if (!terminal.live) {
    return {
      update: () => {},
      finished: (line, state) => print(`${padText(`${percent(state)}%`, 4, 'right')}  ${line}`),
      stopping: () => print(`${terminal.symbols.warning} Stopping; finished jobs are kept`),
      close: () => {},
    }
  }
  const draw = createLogUpdate(io.stdout)
  /** What a resumed study had done before says nothing of the rate. */
  const started = { at: performance.now(), done: 0, phase: '' }
  let last = 0
  let stopping = false
  const show = (state: TuneState) => {
    const { phase, done } = state
    if (phase !== started.phase) Object.assign(started, { at: performance.now(), done, phase })
    const since = { seconds: (performance.now() - started.at) / 1000, before: started.done }
    draw(tuneBlock(state, { ...since, stopping, width: terminal.columns() - 1 }, terminal).join('\n'))
  }
  return {
    update: (state) => {
      if (performance.now() - last < redrawMs) return
      last = performance.now()
      show(state)
    },
    finished: (_, state) => show(state),
    stopping: () => {
      stopping = true
    },
    close: () => {
      draw.clear()
      draw.done()
    },
  }
}

function percent({ done, total }: TuneState): number {
  return total === 0 ? 100 : Math.min(100, Math.floor((100 * done) / total))
}

/** The lines of the live block; none is wider than `width`. */
export function tuneBlock(
  state: TuneState,
  { seconds, before, stopping, width }: { seconds: number; before: number; stopping: boolean; width: number },
  terminal: Terminal,
): string[] {
  const { paint, symbols } = terminal
  const now = state.done + [...state.running.values()].reduce((sum, steps) => sum + steps, 0)
  const rate = (now - before) / Math.max(seconds, 0.001)
  const left = rate > 0 && now < state.total ? `, ${formatDuration((state.total - now) / rate)} left` : ''
  const text = `  ${formatCount(now)} / ${formatCount(state.total)} steps, ${formatCount(rate)} steps/s${left}`
  const room = width - text.length
  const bar =
    room < 8 ? fitText(text.trim(), width) : progressBar(now / state.total, Math.min(30, room), terminal) + text
  const digits = formatCount(state.rungs.at(-1)?.steps ?? 0).length
  const rungs = state.rungs.map(({ steps, candidates, best }) => {
    const many = `${padText(String(candidates), 4, 'right')} ${candidates === 1 ? 'candidate ' : 'candidates'}`
    const value = best === null ? '' : `  best ${formatValue(best)}`
    return fitText(`  ${padText(formatCount(steps), digits, 'right')} steps  ${many}${value}`, width, symbols.ellipsis)
  })
  const best = state.best === null ? [] : [fitText(`  Best so far: ${state.best}`, width, symbols.ellipsis)]
  const foot = stopping
    ? 'Stopping; finished jobs are kept'
    : state.phase === 'search'
      ? 'Press Ctrl-C to stop; --resume continues'
      : 'Training the best and the current settings on new seeds'
  return [bar, ...rungs, ...best, paint.dim(fitText(foot, width, symbols.ellipsis))]
}

/** `learning_rate 0.0021 · gamma 0.98`. */
export function settingsText(settings: Record<string, unknown>): string {
  const parts = Object.entries(settings).map(([name, value]) => `${name} ${settingText(value)}`)
  return safeText(parts.join(' · '), 600)
}

export function settingText(value: unknown): string {
  if (value === undefined || value === null) return '-'
  return typeof value === 'string' ? value : Array.isArray(value) ? value.join('-') : String(value)
}
