import picocolors from 'picocolors'

export type Symbols = {
  ok: string
  failed: string
  warning: string
  next: string
  ellipsis: string
  dot: string
  barDone: string
  barLeft: string
  /** Eight heights, lowest first. */
  spark: string[]
}

const unicodeSymbols: Symbols = {
  ok: '✓',
  failed: '✗',
  warning: '!',
  next: '→',
  ellipsis: '…',
  dot: '·',
  barDone: '━',
  barLeft: '─',
  spark: ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'],
}

const plainSymbols: Symbols = {
  ok: '+',
  failed: 'x',
  warning: '!',
  next: '>',
  ellipsis: '...',
  dot: '-',
  barDone: '#',
  barLeft: '.',
  spark: ['_', '_', '.', '.', '-', '-', '=', '#'],
}

type Paint = (text: string) => string

/** Styles by meaning. Without color they return the text unchanged. */
export type Paints = { accent: Paint; warn: Paint; fail: Paint; dim: Paint; bold: Paint }

/** What a stream can show. */
export type Terminal = {
  columns: () => number
  rows: () => number
  /** An interactive terminal: the last lines may be redrawn. */
  live: boolean
  color: boolean
  unicode: boolean
  symbols: Symbols
  paint: Paints
}

type Stream = { isTTY?: boolean; columns?: number; rows?: number }

/** What a stream can show, from the stream and the environment. `color: false` is `--no-color`. */
export function describeTerminal(
  stream: Stream,
  environment: NodeJS.ProcessEnv,
  options: { color: boolean },
): Terminal {
  const interactive = Boolean(stream.isTTY) && environment.TERM !== 'dumb'
  const forced =
    environment.FORCE_COLOR !== undefined && environment.FORCE_COLOR !== '' && environment.FORCE_COLOR !== '0'
  const color = options.color && !environment.NO_COLOR && (forced || interactive)
  const unicode = speaksUtf8(environment)
  return {
    columns: () => clampColumns(stream.columns ?? (Number(environment.COLUMNS) || 80)),
    rows: () => stream.rows || 24,
    live: interactive,
    color,
    unicode,
    symbols: unicode ? unicodeSymbols : plainSymbols,
    paint: makePaints(color),
  }
}

function makePaints(color: boolean): Paints {
  const colors = picocolors.createColors(color)
  return { accent: colors.green, warn: colors.yellow, fail: colors.red, dim: colors.dim, bold: colors.bold }
}

// POSIX: LC_ALL wins over LC_CTYPE, which wins over LANG. With none set the locale is "C", which is ASCII.
function speaksUtf8(environment: NodeJS.ProcessEnv): boolean {
  if (process.platform !== 'linux') return true
  const locale = environment.LC_ALL || environment.LC_CTYPE || environment.LANG || ''
  return /utf-?8/i.test(locale)
}

function clampColumns(columns: number): number {
  return Number.isFinite(columns) && columns > 0 ? Math.min(Math.max(Math.floor(columns), 20), 400) : 80
}
