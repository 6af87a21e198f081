import assert from 'node:assert'
import type { MessagePort } from 'node:worker_threads'
import { AgentGymError } from '@agentgym/contract'
import {
  actionLeaves,
  allocateBuffers,
  type EnvironmentBuffers,
  type EpisodePlan,
  IDLE,
  TERMINATED,
  TRUNCATED,
} from '@agentgym/scenario/engine'
import { firstBadFlaggedRow, firstBadRow, firstIllegalMask } from '../sandbox/guest-output.ts'
import type { ScenarioDescription, VectorEnvironment } from '../sandbox/vector-environment.ts'
import { EnvironmentLink } from './environment-link.ts'
import { episodeSeed, heldOutSeed, trainingSeed } from './episode-seeds.ts'
import { externalError } from './external-failure.ts'
import type { ExternalSource } from './external-source.ts'

type Options = {
  environments: number
  /** Number of the first environment among all of the run. */
  firstEnvironment?: number
  seed: number
  plan: EpisodePlan
  /** An end of the job's `LinkThread`. */
  link: MessagePort
}

/**
 * Environments of a process of the user's, stepped by a thread that blocks until they have answered. What the process says
 * is checked as a scenario's output is: finite numbers, a legal action left. Episodes are accounted for here.
 *
 * In training, an episode follows another as the environment itself draws them. In evaluation and in groups each episode
 * has a seed of ours.
 */
export class ExternalEnvironment implements VectorEnvironment {
  readonly environments: number
  readonly description: ScenarioDescription
  readonly buffers: EnvironmentBuffers
  /** An episode cannot be replayed: a process of the user's may do what it likes. */
  readonly replays = false
  readonly #source: ExternalSource
  readonly #link: EnvironmentLink
  readonly #firstEnvironment: number
  readonly #seed: number
  readonly #plan: EpisodePlan
  readonly #maskCounts: number[]
  /** [environments]; of the running episodes. */
  readonly #returns: Float64Array
  readonly #lengths: Int32Array
  readonly #episodes: Int32Array
  readonly #idle: Uint8Array
  /** Vector steps so far. */
  #steps = 0

  constructor(source: ExternalSource, { environments, firstEnvironment = 0, seed, plan, link }: Options) {
    this.environments = environments
    this.description = source.description
    this.buffers = allocateBuffers(environments, source.description.sizes)
    this.#source = source
    this.#firstEnvironment = firstEnvironment
    this.#seed = seed
    this.#plan = plan
    const { masked, action } = source.description
    this.#maskCounts = masked ? actionLeaves(action).flatMap(({ counts }) => counts) : []
    this.#returns = new Float64Array(environments)
    this.#lengths = new Int32Array(environments)
    this.#episodes = new Int32Array(environments)
    this.#idle = new Uint8Array(environments)
    this.#link = new EnvironmentLink(link)
    this.#link.open({
      ...{ source, environments, firstEnvironment, split: plan.split, buffers: this.buffers },
      seed: plan.split === 'train' ? trainingSeed(seed) : heldOutSeed(seed, 0),
      continuous: this.#continuous,
    })
  }

  reset(episode = 0): void {
    const { flags, rewards } = this.buffers
    rewards.fill(0)
    this.#returns.fill(0)
    this.#lengths.fill(0)
    const seeds = Array.from({ length: this.environments }, (_, row) => {
      this.#episodes[row] = this.#plan.split === 'eval' ? row : episode
      const none = this.#plan.split === 'eval' && row >= this.#plan.episodes
      this.#idle[row] = none ? 1 : 0
      flags[row] = none ? IDLE : 0
      return none ? -1 : this.#seedOf(row, this.#episodes[row])
    })
    this.#link.reset(new Uint8Array(this.environments).fill(1), seeds, this.#source.timeoutMs)
    this.#check(false)
  }

  step(): void {
    const { flags, rewards, episodeReturns, episodeLengths, episodeNumbers } = this.buffers
    this.#call(() => this.#link.step(this.#source.timeoutMs))
    for (let row = 0; row < this.environments; row++) {
      this.#returns[row] += rewards[row]
      this.#lengths[row] += 1
    }
    this.#check(true)
    const restarted: number[] = []
    for (let row = 0; row < this.environments; row++) {
      const ended = (flags[row] & (TERMINATED | TRUNCATED)) !== 0
      if (ended) {
        episodeReturns[row] = this.#returns[row]
        episodeLengths[row] = this.#lengths[row]
        episodeNumbers[row] = this.#episodes[row]
        this.#returns[row] = 0
        this.#lengths[row] = 0
        if (this.#continuous) this.#episodes[row] += 1
        else restarted.push(row)
      }
      if (this.#idle[row] === 1) {
        flags[row] = IDLE
        rewards[row] = 0
      }
    }
    if (restarted.length > 0) this.#restart(restarted)
  }

  metricNames(): string[] {
    return this.#link.metricNames()
  }

  restore(): void {
    assert.fail('episodes of a process of the user cannot be replayed')
  }

  /** Its own output is the user's to see. */
  takeLogs(): void {}

  dispose(): void {
    this.#link.close()
  }

  get #continuous(): boolean {
    return this.#plan.split === 'train' && this.#plan.groupSize === undefined
  }

  /** Begins the next planned episode of rows that ended; one without a further episode goes on unwatched. */
  #restart(rows: readonly number[]): void {
    const mask = new Uint8Array(this.environments)
    const seeds = new Array<number>(this.environments).fill(-1)
    for (const row of rows) {
      mask[row] = 1
      const next = this.#plan.split === 'eval' ? this.#episodes[row] + this.environments : null
      if (this.#idle[row] === 1 || next === null || this.#plan.split !== 'eval' || next >= this.#plan.episodes) {
        this.#idle[row] = 1
        continue
      }
      this.#episodes[row] = next
      seeds[row] = this.#seedOf(row, next)
    }
    this.#link.reset(mask, seeds, this.#source.timeoutMs)
    this.#checkObservations()
  }

  #seedOf(row: number, episode: number): number {
    if (this.#plan.split === 'eval') return heldOutSeed(this.#seed, episode, this.#plan.apartFrom !== undefined)
    const environment = this.#firstEnvironment + row
    const { groupSize } = this.#plan
    if (groupSize !== undefined) return episodeSeed(this.#seed, Math.floor(environment / groupSize), episode)
    // A new run plays the environment's own sequence from its beginning, a resumed one another.
    return episode === 0 ? -1 : episodeSeed(this.#seed, environment, episode)
  }

  /** The fault of one environment gets its place, and one of the whole process the vector step. */
  #call(work: () => void): void {
    this.#steps += 1
    try {
      work()
    } catch (error) {
      if (!(error instanceof AgentGymError) || typeof error.data.environment === 'number') throw error
      const { row, ...data } = error.data
      const place = typeof row === 'number' ? this.#place(row, 1) : { vector_step: this.#steps }
      const where = Object.entries(place).map(([name, value]) => `${name.replace('_', ' ')} ${value}`)
      const message = `${error.message.replace(/\.$/, '')} (${where.join(', ')}).`
      throw new AgentGymError({ ...error.toReport(), message, data: { ...data, ...place } }, { cause: error })
    }
  }

  #check(stepped: boolean): void {
    const { finalObservations, rewards, flags } = this.buffers
    if (stepped) {
      this.#refuse(firstBadRow(rewards, 1), 'reward_not_finite', 'a reward is not finite')
      const width = this.description.sizes.observation
      const bad = firstBadFlaggedRow(finalObservations, width, flags)
      this.#refuse(bad, 'observation_invalid', 'the last observation of an episode holds a number that is not finite')
    }
    this.#checkObservations()
  }

  #checkObservations(): void {
    const { observations, masks, flags } = this.buffers
    const bad = firstBadRow(observations, this.description.sizes.observation)
    this.#refuse(bad, 'observation_invalid', 'an observation holds a number that is not finite')
    if (this.#maskCounts.length === 0) return
    const row = firstIllegalMask(masks, this.#maskCounts, flags, IDLE)
    this.#refuse(row, 'no_legal_action', 'an action mask leaves no legal action')
  }

  #refuse(row: number, code: 'reward_not_finite' | 'observation_invalid' | 'no_legal_action', what: string): void {
    if (row >= 0) throw externalError(this.#source.identity, { code, what, place: this.#place(row) })
  }

  #place(row: number, ahead = 0) {
    const step = this.#lengths[row] + ahead
    return { environment: this.#firstEnvironment + row, episode: this.#episodes[row], step }
  }
}
