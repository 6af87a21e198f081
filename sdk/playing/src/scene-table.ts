import { type RecordedEpisode, type Scene, sceneLimits, sceneSchema } from '@agentgym/contract'

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

/** Digits that a picture needs of a number: thousandths of the scene's size. */
const SCENE_DIGITS = 3

/** Reads what the engine's `scene` encoded, its numbers rounded; null where it does not read, or there is nothing. */
export function readScene(encoded: string): Scene | null {
  if (encoded === '' || encoded.length > 2 * sceneLimits.characters) return null
  try {
    const { width, height } = JSON.parse(encoded)
    const unit = 10 ** Math.floor(Math.log10(Math.max(width, height)) - SCENE_DIGITS)
    const decimals = Math.max(0, Math.min(15, -Math.log10(unit)))
    const rounded = (_key: string, value: unknown) =>
      typeof value === 'number' ? Number((Math.round(value / unit) * unit).toFixed(decimals)) : value
    const { shapes, ...size } = JSON.parse(encoded)
    return sceneSchema.parse({ ...size, shapes: JSON.parse(JSON.stringify(shapes), rounded) })
  } catch {
    return null
  }
}
