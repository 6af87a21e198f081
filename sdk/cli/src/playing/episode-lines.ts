import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { PictureColor, RecordedStep } from '@agentgym/contract'
import {
  actionName,
  choiceName,
  type Episode,
  episodeView,
  readPictureStyles,
  returnAt,
  type SpanRow,
  terminalFrame,
} from '@agentgym/pictures'
import picocolors from 'picocolors'
import { formatValue } from '../terminal/format-values.ts'
import { progressBar } from '../terminal/progress.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { fitText, safeText } from '../terminal/text.ts'

/** The stylesheet of pictures, which names what every class looks like. */
export function pictureRules(): string {
  return readFileSync(fileURLToPath(import.meta.resolve('@agentgym/pictures/styles/pictures.css')), 'utf8')
}

let styles: ReturnType<typeof readPictureStyles> | undefined

/** A frame of an episode for the terminal, at most `rows` lines of `columns`. */
export function pictureLines(
  episode: Episode,
  index: number,
  { columns, rows }: { columns: number; rows: number },
  { unicode, color }: Terminal,
): string[] {
  styles ??= readPictureStyles(pictureRules())
  const size = { columns, rows: Math.max(1, rows), unicode, color, styles }
  return terminalFrame(episode, episodeView(episode), index, size).map((row) => paintedRow(row, columns, color))
}

function paintedRow(row: SpanRow, columns: number, color: boolean): string {
  let left = columns
  let line = ''
  for (const span of row) {
    if (left <= 0) break
    // Texts of a scenario: nothing in them may steer the terminal.
    const text = fitText(safeText(span.text, 2_000), left, '')
    left -= text.length
    line += span.color === null ? text : paintOf(span.color, color)(text)
  }
  return line
}

function paintOf(name: PictureColor, color: boolean): (text: string) => string {
  const colors = picocolors.createColors(color)
  const paints: Record<PictureColor, (text: string) => string> = {
    ink: (text) => text,
    dim: colors.dim,
    line: colors.dim,
    floor: colors.blackBright,
    accent: colors.green,
    warning: colors.yellow,
    failure: colors.red,
    blue: colors.blueBright,
    orange: colors.yellow,
    green: colors.green,
    purple: colors.magenta,
    yellow: colors.yellowBright,
  }
  return paints[name]
}

/** `step 42 · right, reward 1 · return 7` */
export function stepLine(episode: Episode, index: number, { symbols, paint }: Terminal): string {
  const step = episode.steps[index - 1]
  const total = `return ${paint.bold(formatValue(tidy(returnAt(episode, index))))}`
  if (step === undefined) return `step 0 ${symbols.dot} ${total}`
  const action = safeText(actionName(episode, step.action), 160)
  return [`step ${index}`, action, `reward ${formatValue(step.reward)}`, total].join(` ${symbols.dot} `)
}

/** `episode 3: 42 steps, return 7`; `number` counts from 0. */
export function episodeResult(number: number, steps: number, total: number): string {
  return `episode ${number + 1}: ${steps} steps, return ${formatValue(tidy(total))}`
}

/** Sums of float32 numbers, without their noise. */
export function tidy(value: number): number {
  return Number(value.toPrecision(6))
}

type Likely = RecordedStep['likely']

/** What an agent would do next: its likeliest choices with their probabilities, the first one in bold. */
export function likelyLine(episode: Episode, likely: Likely, columns: number, terminal: Terminal): string | null {
  if (likely === undefined || likely.length === 0) return null
  const { paint } = terminal
  const parts = likely.slice(0, 3).map(({ choice, probability }, rank) => {
    const name = safeText(choiceName(episode, choice), 24)
    const percent = `${Math.round(probability * 100)}%`
    return `${rank === 0 ? paint.bold(name) : name} ${percent} ${progressBar(probability, 8, terminal)}`
  })
  const fitting = parts.slice(0, Math.max(1, Math.floor((columns - 6) / 34)))
  return `next: ${fitting.join('   ')}`
}

/** `solved 1 · tokens 40` */
export function metricsLine(metrics: Record<string, number>, { symbols }: Terminal): string {
  return Object.entries(metrics)
    .map(([name, value]) => `${safeText(name, 64)} ${formatValue(tidy(value))}`)
    .join(` ${symbols.dot} `)
}
