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

/** Styles by meaning, not by colour: without colour they return the text as it is. */
export type Paints = { accent: Paint; warn: Paint; fail: Paint; dim: Paint; bold: Paint }

/** Where output goes and what that place can show. */
export type Terminal = {
  columns: () => number
  rows: () => number
  /** A person watches: the last lines may be drawn over. */
  live: boolean
  color: boolean
  unicode: boolean
  symbols: Symbols
  paint: Paints
}

type Stream = { isTTY?: boolean; columns?: number; rows?: number }

/** Decides from a stream and the environment what may be drawn. `color: false` is the user's `--no-color`. */
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
