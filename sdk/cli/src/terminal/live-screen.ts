import { emitKeypressEvents } from 'node:readline'
import type { ReadStream } from 'node:tty'
import type { CommandContext } from '../command-context.ts'

/** A key by its name (`left`, `return`, `space`, `escape`) or as the character that was typed. */
export type Key = { name: string; text: string }

type KeypressInfo = { name?: string; sequence?: string; ctrl?: boolean }

/**
 * The whole terminal for as long as it is open: draws lines, reads keys, and leaves the terminal as it was, also when the
 * command fails. Ctrl-C is a key here, since raw mode keeps it from the shell; it is reported as `ctrl-c`.
 */
export class LiveScreen {
  readonly #context: CommandContext
  readonly #onKey: (key: Key) => void
  #lines: string[] = []
  #open = true
  #wake: () => void = () => {}

  constructor(context: CommandContext, onKey: (key: Key) => void) {
    this.#context = context
    this.#onKey = onKey
    const { stdin, stdout } = context.io
    stdout.write('\x1b[?1049h\x1b[?25l')
    emitKeypressEvents(stdin)
    if (stdin.isTTY) (stdin as ReadStream).setRawMode(true)
    stdin.on('keypress', this.#keypress)
    stdout.on('resize', this.#redraw)
    stdin.resume()
  }

  /** Columns and rows that may be used. The last row stays empty: filling it would scroll. */
  size(): { columns: number; rows: number } {
    const { terminal } = this.#context
    return { columns: terminal.columns() - 1, rows: Math.max(6, terminal.rows() - 1) }
  }

  /** Shows these lines, which fit the size; only those that changed are written. */
  draw(lines: string[]): void {
    if (!this.#open) return
    const { rows } = this.size()
    const shown = lines.slice(0, rows)
    let output = ''
    for (let row = 0; row < Math.max(shown.length, this.#lines.length); row++) {
      if (shown[row] !== this.#lines[row]) output += `\x1b[${row + 1};1H${shown[row] ?? ''}\x1b[K`
    }
    this.#lines = shown
    if (output !== '') this.#context.io.stdout.write(output)
  }

  /** Until the time is over, or until `wake`. */
  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  wake(): void {
    this.#wake()
  }

  close(): void {
    if (!this.#open) return
    this.#open = false
    const { stdin, stdout } = this.#context.io
    stdin.off('keypress', this.#keypress)
    stdout.off('resize', this.#redraw)
    if (stdin.isTTY) (stdin as ReadStream).setRawMode(false)
    stdin.pause()
    stdout.write('\x1b[?25h\x1b[?1049l')
  }

  readonly #keypress = (text: string | undefined, { name, sequence, ctrl }: KeypressInfo): void => {
    if (ctrl === true && name === 'c') this.#onKey({ name: 'ctrl-c', text: '' })
    else this.#onKey({ name: name ?? text ?? '', text: text ?? sequence ?? '' })
  }

  readonly #redraw = (): void => {
    const lines = this.#lines
    this.#lines = []
    this.#context.io.stdout.write('\x1b[2J')
    this.draw(lines)
  }
}
