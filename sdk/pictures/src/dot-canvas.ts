import type { PictureColor } from '@agentgym/contract'
import type { Drawn } from './display-list.ts'

/** Text in one color; null: the terminal's own. */
export type Span = { text: string; color: PictureColor | null }
export type SpanRow = Span[]

type Point = [x: number, y: number]

/** The part of a picture that is shown, in its units. */
export type Area = { x: number; y: number; width: number; height: number }

// Bit of each dot in a braille cell (Unicode block U+2800), by row then column.
const brailleBits = [0x01, 0x08, 0x02, 0x10, 0x04, 0x20, 0x40, 0x80]

/** What the custom properties of `colors.css` are called among an author's colors; absent: the background. */
const colorNames: Record<string, PictureColor | undefined> = {
  ...{ ink: 'ink', dim: 'dim', line: 'line', 'line-strong': 'line', sunken: 'floor', accent: 'accent' },
  ...{ warning: 'warning', failure: 'failure' },
  ...{ 'chart-1': 'blue', 'chart-2': 'orange', 'chart-3': 'green', 'chart-4': 'purple', 'chart-5': 'yellow' },
}

/** A picture as characters: braille dots, 2 × 4 a character, or one sign a character without Unicode. */
export class DotCanvas {
  readonly #columns: number
  readonly #rows: number
  readonly #wide: number
  readonly #high: number
  readonly #unicode: boolean
  /** A color a dot; null: empty. */
  readonly #dots: (PictureColor | null)[]
  readonly #letters = new Map<number, Span>()
  readonly #scale: number
  readonly #area: Area

  /** As much of `area` as fits `columns` by `rows` characters, which are twice as high as wide. */
  constructor(area: Area, { columns, rows, unicode }: { columns: number; rows: number; unicode: boolean }) {
    // A dot of braille is square; a whole character is not: without Unicode, dots are counted as if there were two columns.
    const [wide, high] = unicode ? [2, 4] : [1, 1]
    const perUnit = Math.min((columns * 2) / area.width, (rows * 4) / area.height)
    this.#columns = Math.max(1, Math.ceil((area.width * perUnit) / 2))
    this.#rows = Math.max(1, Math.ceil((area.height * perUnit) / 4))
    this.#wide = this.#columns * wide
    this.#high = this.#rows * high
    this.#unicode = unicode
    this.#scale = perUnit
    this.#area = area
    this.#dots = new Array<PictureColor | null>(this.#wide * this.#high).fill(null)
  }

  draw(list: readonly Drawn[]): void {
    for (const drawn of list) {
      if (drawn.kind === 'text') {
        this.#write(drawn)
        continue
      }
      const corners = drawn.points.map((point) => this.#place(point))
      if (drawn.fill !== null) this.#fill(corners, colorNames[drawn.fill] ?? null, drawn.fillOpacity)
      if (drawn.stroke === null || colorNames[drawn.stroke] === undefined) continue
      const line = drawn.closed ? [...corners, corners[0]] : corners
      for (let i = 1; i < line.length; i++)
        this.#stroke(line[i - 1], line[i], colorNames[drawn.stroke] ?? null, drawn.strokeWidth)
    }
  }

  /** Lines of text; spans of one color are joined. */
  rows(): SpanRow[] {
    return Array.from({ length: this.#rows }, (_, row) => {
      const spans: SpanRow = []
      for (let column = 0; column < this.#columns; column++) {
        const cell = this.#letters.get(row * this.#columns + column) ?? this.#cell(column, row)
        const last = spans.at(-1)
        if (last !== undefined && last.color === cell.color) last.text += cell.text
        else spans.push({ ...cell })
      }
      return spans
    })
  }

  #place([x, y]: Point): Point {
    const [across, down] = this.#unicode ? [1, 1] : [0.5, 0.25]
    return [(x - this.#area.x) * this.#scale * across, (y - this.#area.y) * this.#scale * down]
  }

  #cell(column: number, row: number): Span {
    if (!this.#unicode) {
      const color = this.#dots[row * this.#wide + column]
      return { text: color === null ? ' ' : color === 'floor' || color === 'line' ? '.' : '#', color }
    }
    let bits = 0
    let color: PictureColor | null = null
    for (let dot = 0; dot < 8; dot++) {
      const drawn = this.#dots[(row * 4 + (dot >> 1)) * this.#wide + column * 2 + (dot & 1)]
      if (drawn === null) continue
      bits |= brailleBits[dot]
      // What stands on the floor shows.
      if (color === null || color === 'floor' || color === 'line') color = drawn
    }
    return { text: bits === 0 ? ' ' : String.fromCharCode(0x2800 + bits), color }
  }

  #set(x: number, y: number, color: PictureColor | null): void {
    const [column, row] = [Math.floor(x), Math.floor(y)]
    if (column < 0 || row < 0 || column >= this.#wide || row >= this.#high) return
    this.#dots[row * this.#wide + column] = color
  }

  #fill(corners: readonly Point[], color: PictureColor | null, opacity: number): void {
    const top = Math.max(0, Math.floor(Math.min(...corners.map(([, y]) => y))))
    const bottom = Math.min(this.#high - 1, Math.ceil(Math.max(...corners.map(([, y]) => y))))
    // The floor, and what is faint, is a pattern of dots.
    const sparse = color === 'floor' ? 4 : opacity < 0.75 ? 2 : 1
    for (let row = top; row <= bottom; row++) {
      const crossings = crossingsAt(corners, row + 0.5)
      for (let pair = 0; pair + 1 < crossings.length; pair += 2) {
        const [from, to] = [
          Math.max(0, Math.round(crossings[pair])),
          Math.min(this.#wide, Math.round(crossings[pair + 1])),
        ]
        for (let column = from; column < to; column++)
          if ((column + 2 * row) % sparse === 0) this.#set(column, row, color)
      }
    }
  }

  #stroke([x1, y1]: Point, [x2, y2]: Point, color: PictureColor | null, width: number): void {
    const steps = Math.max(1, Math.ceil(2 * Math.hypot(x2 - x1, y2 - y1)))
    const radius = (width * this.#scale * (this.#unicode ? 1 : 0.25)) / 2
    for (let i = 0; i <= steps; i++) {
      const [x, y] = [x1 + ((x2 - x1) * i) / steps, y1 + ((y2 - y1) * i) / steps]
      this.#set(x, y, color)
      for (let dy = -radius; radius >= 0.9 && dy <= radius; dy += 0.9)
        for (let dx = -radius; dx <= radius; dx += 0.9)
          if (dx * dx + dy * dy <= radius * radius) this.#set(x + dx, y + dy, color)
    }
  }

  #write({ at, text, anchor, color, size }: Extract<Drawn, { kind: 'text' }>): void {
    const [x, y] = this.#place([at[0], at[1] - size * 0.3])
    const [wide, high] = this.#unicode ? [2, 4] : [1, 1]
    const letters = Array.from(text)
    const shift = anchor === 'end' ? letters.length : anchor === 'middle' ? letters.length / 2 : 0
    const row = Math.floor(y / high)
    // A label that begins near the edge still ends within it.
    const first = Math.max(0, Math.min(Math.round(x / wide - shift), this.#columns - letters.length))
    letters.forEach((letter, i) => {
      if (first + i < this.#columns && row >= 0 && row < this.#rows)
        this.#letters.set(row * this.#columns + first + i, { text: letter, color: colorNames[color] ?? null })
    })
  }
}

/** Where the outline of a shape crosses a horizontal line, from left to right. */
function crossingsAt(corners: readonly Point[], y: number): number[] {
  const found: number[] = []
  for (let i = 0; i < corners.length; i++) {
    const [[x1, y1], [x2, y2]] = [corners[i], corners[(i + 1) % corners.length]]
    if (y1 <= y !== y2 <= y) found.push(x1 + ((y - y1) * (x2 - x1)) / (y2 - y1))
  }
  return found.sort((a, b) => a - b)
}
