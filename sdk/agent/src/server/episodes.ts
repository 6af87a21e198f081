import { randomBytes } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileFailure, parseJson } from '@agentgym/contract'
import { decidedBefore, episodeNotFound, tooManyEpisodes } from '@agentgym/contract/protocols'
import { z } from 'zod'
import { agentGymHome } from '../home.ts'
import { sha256 } from '../sha256.ts'

/** Episodes without a decision for so long are over. */
const idleMs = 24 * 3_600_000
const mostEpisodes = 10_000

const episodeSchema = z.object({
  /** Hashes of the caller's key and of the model, whose memory means nothing to another one. */
  caller: z.string(),
  model: z.string(),
  next_step: z.int().nonnegative(),
  /** What the agent remembers; null before the first decision. */
  state: z.string().nullable(),
  /** The last decision, and the hash of what it was asked, for calls that are sent again. */
  last: z.object({ asked: z.string(), decision: z.record(z.string(), z.unknown()) }).nullable(),
})
type Episode = z.infer<typeof episodeSchema>

/** The episodes that this machine keeps, in `AGENTGYM_HOME`. */
export function episodesAt(home = agentGymHome()): Episodes {
  return new Episodes(join(home, 'episodes'))
}

/** Whose episode it is. */
export type EpisodeOwner = { key: string; modelHash: string }

type Step = { id: string; step: number; asked: unknown }
type Decided = { decision: Record<string, unknown>; state: string | null }

/**
 * Episodes of agents with memory, one small file each: a handle stays valid when the server starts again. A handle is random, and
 * good only with the key and the model that it was made with. Synchronous, as decisions are, so that two calls of one episode cannot
 * read the same state.
 */
export class Episodes {
  readonly #folder: string
  readonly #now: () => number

  constructor(folder: string, now: () => number = Date.now) {
    this.#folder = folder
    this.#now = now
  }

  /** Begins an episode, and gives its handle. Throws `rate_limited` where there are too many, `disk_…`, `file_access_denied`. */
  start({ key, modelHash }: EpisodeOwner): string {
    this.#makeFolder()
    if (readdirSync(this.#folder).length >= mostEpisodes && this.#removeIdle() >= mostEpisodes) {
      throw tooManyEpisodes('This server', mostEpisodes)
    }
    const id = randomBytes(18).toString('base64url')
    this.#write(id, { caller: sha256(key), model: modelHash, next_step: 0, state: null, last: null })
    return id
  }

  /**
   * Decides on the next step of an episode. The last step, asked again with the same observation, gets the same decision again.
   * Throws `episode_not_found`, `episode_step_invalid` and what `decide` throws; the episode is then as before.
   */
  act(owner: EpisodeOwner, { id, step, asked }: Step, decide: (state: string | null) => Decided) {
    const episode = this.#read(owner, id)
    if (episode === undefined) throw episodeNotFound()
    const hash = sha256(JSON.stringify(asked))
    const before = decidedBefore(episode, { step, asked: hash })
    if (before !== undefined) return { decision: before, next_step: episode.next_step }
    const { decision, state } = decide(episode.state)
    this.#write(id, { ...episode, next_step: step + 1, state, last: { asked: hash, decision } })
    return { decision, next_step: step + 1 }
  }

  /** Forgets an episode. Whether there was one. */
  end(owner: EpisodeOwner, id: string): boolean {
    if (this.#read(owner, id) === undefined) return false
    rmSync(this.#file(id), { force: true })
    return true
  }

  /** A name that says nothing of the handle, whatever a caller sends as one. */
  #file(id: string): string {
    return join(this.#folder, `${sha256(id).slice(0, 40)}.json`)
  }

  #read({ key, modelHash }: EpisodeOwner, id: string): Episode | undefined {
    const file = this.#file(id)
    if (this.#isIdle(file)) return undefined
    const episode = episodeSchema.safeParse(parseJson(readFileSync(file, 'utf8'))).data
    return episode?.caller === sha256(key) && episode.model === modelHash ? episode : undefined
  }

  #makeFolder(): void {
    try {
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 })
    } catch (error) {
      throw fileFailure(error, this.#folder)
    }
  }

  #write(id: string, episode: Episode): void {
    const file = this.#file(id)
    try {
      writeFileSync(`${file}.tmp`, JSON.stringify(episode), { mode: 0o600 })
      renameSync(`${file}.tmp`, file)
    } catch (error) {
      rmSync(`${file}.tmp`, { force: true })
      throw fileFailure(error, file)
    }
  }

  /** Also true for a file that does not exist. */
  #isIdle(file: string): boolean {
    const stats = statSync(file, { throwIfNoEntry: false })
    return stats === undefined || this.#now() - stats.mtimeMs > idleMs
  }

  /** Returns how many are left. */
  #removeIdle(): number {
    const files = readdirSync(this.#folder).map((name) => join(this.#folder, name))
    const idle = files.filter((file) => this.#isIdle(file))
    for (const file of idle) rmSync(file, { force: true })
    return files.length - idle.length
  }
}
