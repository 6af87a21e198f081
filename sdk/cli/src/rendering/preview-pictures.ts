import type { Preview } from '@agentgym/web'

/** Pictures that are kept, about 30 kB each, and that wait to be drawn. */
const mostKept = 200
const mostWaiting = 16

/**
 * The pictures of links to pages of a server: drawn one at a time, a few dozen milliseconds each, and kept. So strangers
 * who ask for many take no more than a share of one core, and get nothing beyond a short queue.
 */
export class PreviewPictures {
  readonly #draw: (preview: Preview) => Promise<Uint8Array>
  /** By key; the one asked for last is the last. */
  readonly #pictures = new Map<string, Promise<Uint8Array>>()
  #waiting = 0
  #last: Promise<unknown> = Promise.resolve()

  constructor(draw: (preview: Preview) => Promise<Uint8Array>) {
    this.#draw = draw
  }

  /** Null if too many wait. */
  async picture(preview: Preview): Promise<Uint8Array | null> {
    const { key } = preview
    const known = this.#pictures.get(key)
    if (known === undefined && this.#waiting >= mostWaiting) return null
    const picture = known ?? this.#queue(preview)
    this.#pictures.delete(key)
    this.#pictures.set(key, picture)
    const [oldest] = this.#pictures.keys()
    if (this.#pictures.size > mostKept && oldest !== undefined) this.#pictures.delete(oldest)
    return picture
  }

  #queue(preview: Preview): Promise<Uint8Array> {
    this.#waiting += 1
    const picture = this.#last.then(() => this.#draw(preview))
    this.#last = picture
      .catch(() => this.#pictures.delete(preview.key))
      .finally(() => {
        this.#waiting -= 1
      })
    return picture
  }
}
