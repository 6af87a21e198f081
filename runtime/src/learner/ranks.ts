import { deserialize, serialize } from 'node:v8'
import { loadAddon, translated, translateError } from './addon.ts'
import type { NativeRankHub, NativeRanks, RankPlace, Rendezvous } from './learner-types.ts'

/** The processes of a run, as a job among them sees them. All must call the same methods in the same order. */
export class Ranks {
  readonly place: RankPlace
  /** For the learner, which adds up gradients over all. */
  readonly native: NativeRanks

  /** `descriptor` is the hub's, as the job inherited it. Before the job is locked down. */
  constructor(descriptor: number, place: RankPlace) {
    this.place = place
    const { NativeRanks } = loadAddon()
    this.native = translated(() => new NativeRanks(descriptor, place))
  }

  /** Everyone's values, by rank; structured-clonable. Rejects with `rank_lost` where a process has left. */
  async share<Value>(own: Value): Promise<Value[]> {
    try {
      const shared = await this.native.share(new Uint8Array(serialize(own)))
      return shared.map((bytes) => deserialize(bytes))
    } catch (error) {
      throw translateError(error)
    }
  }

  /** The first process's value, in all of them. `own` is called in that one alone. */
  async fromFirst<Value>(own: () => Promise<Value>): Promise<Value> {
    const [first] = await this.share(this.place.rank === 0 ? await own() : undefined)
    return first as Value
  }
}

/** The supervisor's side: memory that its jobs share, connected to the other machines of the run. */
export class RankHub {
  readonly #native: NativeRankHub

  constructor(ranks: number, { severalHosts }: { severalHosts: boolean }) {
    const { NativeRankHub } = loadAddon()
    this.#native = translated(() => new NativeRankHub(ranks, severalHosts))
  }

  /** For jobs to inherit. */
  get descriptor(): number {
    return this.#native.descriptor()
  }

  /** Waits for the other machines; resolves to what each of them says of itself. */
  async joinHosts(rendezvous: Rendezvous, greeting: string): Promise<string[]> {
    try {
      return await this.#native.joinHosts(rendezvous, greeting)
    } catch (error) {
      throw translateError(error)
    }
  }

  /** Every process that waits for another, now or later, fails with `rank_lost`. */
  abort(reason: string): void {
    this.#native.abort(reason)
  }

  close(): void {
    this.#native.close()
  }
}
