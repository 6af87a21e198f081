import type { RecordedEpisode, Scene } from '@agentgym/contract'

/** The scenes of one episode: what stays the same from step to step, such as the ground, is kept once. */
export class SceneTable {
  readonly #shapes: Scene['shapes'] = []
  readonly #known = new Map<string, number>()
  readonly #most: number
  #size: Omit<Scene, 'shapes'> | null = null

  /** Keeps at most that many shapes in all; scenes beyond them are left out. */
  constructor(most: number) {
    this.#most = most
  }

  /** How many shapes there are so far: a scene uses none that came after it. */
  get length(): number {
    return this.#shapes.length
  }

  /** The shapes of a scene as indices; undefined where there is none, or no room for it. */
  add(scene: Scene | null): number[] | undefined {
    if (scene === null) return undefined
    const { shapes, ...size } = scene
    this.#size ??= size
    if (this.#shapes.length + shapes.length > this.#most) return undefined
    return shapes.map((shape) => this.#indexOf(shape))
  }

  #indexOf(shape: Scene['shapes'][number]): number {
    const key = JSON.stringify(shape)
    const known = this.#known.get(key)
    if (known !== undefined) return known
    this.#known.set(key, this.#shapes.length)
    return this.#shapes.push(shape) - 1
  }

  /** The field `scene` of an episode, with the first `length` shapes; empty where nothing was drawn. */
  field(length = this.length): Pick<RecordedEpisode, 'scene'> {
    return this.#size === null ? {} : { scene: { ...this.#size, shapes: this.#shapes.slice(0, length) } }
  }

  /** The shapes from that index on: what a reader of the episode does not have yet. */
  since(length: number): Scene['shapes'] {
    return this.#shapes.slice(length)
  }
}
