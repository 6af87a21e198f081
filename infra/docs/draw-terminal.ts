import type { Cell, Style } from './terminal-cells.ts'

const cellWidth = 8.4
const cellHeight = 18
const margin = 16

const palette: Record<string, string> = {
  paper: '#11140f',
  ink: '#d7dbd2',
  black: '#5c6370',
  red: '#e06c5f',
  green: '#5fc98b',
  yellow: '#e0b050',
  blue: '#6ea6e0',
  magenta: '#c08ad0',
  cyan: '#58b8c0',
  white: '#d7dbd2',
}

/** A terminal's screen as an SVG picture, one that looks alike in every viewer: graphs are shapes, not characters. */
export function drawTerminal(rows: Cell[][], title: string): string {
  const columns = Math.max(...rows.map((row) => row.length))
  const width = Math.ceil(columns * cellWidth + 2 * margin)
  const height = rows.length * cellHeight + 2 * margin
  const content = rows.flatMap((row, index) => drawRow(row, margin + index * cellHeight))
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escapeXml(title)}">`,
    `<title>${escapeXml(title)}</title>`,
    `<rect width="${width}" height="${height}" rx="8" fill="${palette.paper}"/>`,
    `<g font-family="'JetBrains Mono', 'DejaVu Sans Mono', Menlo, Consolas, monospace" font-size="14" fill="${palette.ink}">`,
    ...content,
    '</g>',
    '</svg>',
    '',
  ].join('\n')
}

/** Runs of equal style become one element each; shapes stand alone. */
function drawRow(row: Cell[], top: number): string[] {
  const parts: string[] = []
  let run: Cell[] = []
  let runStart = 0
  const endRun = () => {
    if (run.some(({ text }) => text !== ' ')) parts.push(drawText(run, runStart, top))
    run = []
  }
  for (const [column, cell] of row.entries()) {
    const shape = drawShape(cell, margin + column * cellWidth, top)
    if (shape !== undefined || (run.length > 0 && !sameStyle(run[0], cell))) endRun()
    if (shape !== undefined) {
      parts.push(shape)
      continue
    }
    if (run.length === 0) runStart = column
    run.push(cell)
  }
  endRun()
  return parts
}

/** One element a group of words: gaps are positions, or a glyph of another font would shift all that follows it. */
function drawText(run: Cell[], column: number, top: number): string {
  const weight = run[0].bold ? ' font-weight="700"' : ''
  const text = run.map((cell) => cell.text).join('')
  return [...text.matchAll(/\S+(?: \S+)*/g)]
    .map(({ 0: words, index }) => {
      const x = round(margin + (column + index) * cellWidth)
      // textLength holds the grid whatever font the viewer has.
      const length = round([...words].length * cellWidth)
      return `<text x="${x}" y="${top + 13}" textLength="${length}"${weight}${paint(run[0])}>${escapeXml(words)}</text>`
    })
    .join('')
}

/** Braille dots, bars and lines as shapes; undefined for an ordinary character. */
function drawShape(cell: Cell, x: number, top: number): string | undefined {
  const code = cell.text.codePointAt(0) ?? 0
  const rect = (dx: number, dy: number, w: number, h: number) =>
    `<rect x="${round(x + dx)}" y="${round(top + dy)}" width="${round(w)}" height="${round(h)}"${paint(cell)}/>`
  if (code >= 0x2801 && code <= 0x28ff) return drawBraille(cell, code - 0x2800, x, top)
  if (code >= 0x2581 && code <= 0x2588) {
    const height = ((code - 0x2580) / 8) * (cellHeight - 3)
    return rect(0.5, cellHeight - 2 - height, cellWidth - 1, height)
  }
  if (cell.text === '━') return rect(0, 7, cellWidth + 0.2, 4)
  if (cell.text === '─') return rect(0, 8.5, cellWidth + 0.2, 1)
  if (cell.text === '│') return rect(cellWidth / 2 - 0.5, 0, 1, cellHeight)
  if (cell.text === '└') return rect(cellWidth / 2 - 0.5, 0, 1, 9.5) + rect(cellWidth / 2, 8.5, cellWidth / 2, 1)
  return undefined
}

/** Unicode's order of the dots: three down the left, three down the right, then the fourth row. */
function drawBraille(cell: Cell, bits: number, x: number, top: number): string {
  const dots = [
    [0, 0],
    [0, 1],
    [0, 2],
    [1, 0],
    [1, 1],
    [1, 2],
    [0, 3],
    [1, 3],
  ]
  const path = dots
    .filter((_, bit) => bits & (1 << bit))
    .map(([column, row]) => {
      const cx = round(x + cellWidth * (0.25 + column * 0.5) - 1.1)
      const cy = round(top + cellHeight * (0.125 + row * 0.25))
      return `M${cx} ${cy}a1.1 1.1 0 1 0 2.2 0a1.1 1.1 0 1 0-2.2 0`
    })
  return `<path d="${path.join('')}"${paint(cell)}/>`
}

function paint({ color, dim }: Style): string {
  const fill =
    color === undefined ? '' : ` fill="${color.startsWith('#') ? color : palette[color.replace('bright-', '')]}"`
  return fill + (dim ? ' opacity="0.6"' : '')
}

function sameStyle(a: Style, b: Style): boolean {
  return a.color === b.color && Boolean(a.bold) === Boolean(b.bold) && Boolean(a.dim) === Boolean(b.dim)
}

function escapeXml(text: string): string {
  return text.replace(/[<>&"]/g, (character) => `&#${character.charCodeAt(0)};`)
}

function round(value: number): number {
  return Math.round(value * 100) / 100
}
