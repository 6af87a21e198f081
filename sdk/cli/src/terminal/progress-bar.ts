import type { Terminal } from './terminal.ts'

/** A bar of `width` columns, `fraction` of it done. */
export function progressBar(fraction: number, width: number, terminal: Terminal): string {
  const done = Math.round(Math.min(Math.max(fraction, 0), 1) * Math.max(0, width))
  const { symbols, paint } = terminal
  return paint.accent(symbols.barDone.repeat(done)) + paint.dim(symbols.barLeft.repeat(Math.max(0, width - done)))
}
