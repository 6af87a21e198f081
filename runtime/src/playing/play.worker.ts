import { parentPort } from 'node:worker_threads'
import {
  checkPolicySpaces,
  type EncoderSet,
  greedyActions,
  likelyChoices,
  loadModelSession,
  type PolicySession,
  TextVectors,
} from '@agentgym/agent/engine'
import { AgentGymError, type ErrorReport, recordedEpisodeLimits } from '@agentgym/contract'
import { actionControls, EpisodeReader, RandomActions, roundNumber } from '@agentgym/playing'
import { actionLeaves, MAX_METRICS, TERMINATED, TRUNCATED } from '@agentgym/scenario/engine'
import { EpisodeHash, EVALUATION_ENVIRONMENTS } from '../evaluation/play-episodes.ts'
import { encodeObservations } from '../rollout/encode-observations.ts'
import type { JobLimits } from '../sandbox/limits.ts'
import { createSandboxedEnvironment, type SandboxedEnvironment } from '../sandbox/sandboxed-environment.ts'
import type { VectorEnvironment } from '../sandbox/vector-environment.ts'
import type { PlayJob, PlayReply, PlayRequest, SeenReply } from './play-messages.ts'

export type ToPlayThread =
  | { type: 'open'; job: PlayJob; encoders: EncoderSet; limits: JobLimits }
  | { type: 'request'; request: PlayRequest }
export type FromPlayThread =
  | { type: 'ready' }
  | { type: 'board'; board: Int32Array }
  | { type: 'reply'; reply: PlayReply }
  | { type: 'fault'; error: ErrorReport }
  | { type: 'bug'; message: string }

const ENDED = TERMINATED | TRUNCATED
const MOST_EPISODES = 1_000_000_000

/** Chooses the action of the first row. */
type Chooser = { begin(episode: number): void; choose(): SeenReply['likely']; likely(): SeenReply['likely'] }

/** One environment with one player, a step at a time. */
class Stage {
  readonly #guest: SandboxedEnvironment
  readonly #environment: VectorEnvironment
  readonly #chooser: Chooser | null
  readonly #look: boolean
  readonly #view: PlayJob['view']
  readonly #logs: string[] = []
  #reader: EpisodeReader
  #hash: EpisodeHash
  #episode = 0
  #shapesSent = 0

  constructor(job: PlayJob, encoders: EncoderSet, limits: JobLimits, onBoard: (board: Int32Array) => void) {
    const { scenario, seed, taskOrder, look, view } = job
    this.#guest = createSandboxedEnvironment({
      ...scenario,
      environments: 1,
      seed,
      plan: { split: 'eval', episodes: MOST_EPISODES, taskOrder },
      limits,
      watchTexts: look,
      watchScenes: look,
      onBoard,
      logs: {
        keep: true,
        take: ({ entries }) => {
          for (const { text } of entries) if (this.#logs.length < 100) this.#logs.push(text.slice(0, 600))
        },
      },
    })
    this.#environment = encodeObservations(this.#guest, job.player.kind === 'agent' ? new TextVectors(encoders) : null)
    this.#chooser = chooserOf(job, this.#environment)
    this.#look = look
    this.#view = view
    this.#reader = this.#newReader()
    this.#hash = new EpisodeHash(this.#guest.description.sizes.action)
  }

  opened(): PlayReply {
    const { description } = this.#guest
    const { observation, action } = this.#reader.head
    const controls = actionControls(description.action)
    const { maxSteps, tasks } = description
    const levels = description.levels?.map(({ name }) => name) ?? []
    return { kind: 'opened', observation, action, controls, maxSteps, tasks, levels }
  }

  begin(episode: number): PlayReply {
    this.#environment.restore(0, episode, new Float32Array(0))
    this.#episode = episode
    this.#reader = this.#newReader()
    this.#shapesSent = 0
    this.#hash = new EpisodeHash(this.#guest.description.sizes.action)
    this.#chooser?.begin(episode)
    return this.#seen('now', null, this.#chooser?.likely())
  }

  step(given: number[] | null): PlayReply {
    const { buffers, description } = this.#guest
    let likely: SeenReply['likely']
    if (given !== null) buffers.actions.set(given.slice(0, description.sizes.action))
    else likely = this.#chooser?.choose()
    const action = this.#reader.action()
    const exact = Array.from(buffers.actions.subarray(0, description.sizes.action))
    this.#environment.step()
    const [reward, flag] = [buffers.rewards[0], buffers.flags[0] & ENDED]
    this.#hash.step(buffers.actions, buffers.rewards, 0)
    const ended = flag !== 0
    const step = {
      ...{ action, reward: roundNumber(reward) },
      ...(likely === undefined ? {} : { likely }),
      exact: { action: exact, reward },
      end: ended ? ((flag & TERMINATED) !== 0 ? ('terminated' as const) : ('truncated' as const)) : null,
      metrics: ended ? this.#metrics() : {},
      digest: ended ? Buffer.from(this.#hash.end(this.#episode, flag)).toString('hex') : null,
    }
    return this.#seen(ended ? 'final' : 'now', step, ended ? undefined : this.#chooser?.likely())
  }

  #newReader(): EpisodeReader {
    return new EpisodeReader(this.#guest, { view: this.#view, shapes: recordedEpisodeLimits.shapes })
  }

  #metrics(): Record<string, number> {
    const metrics: Record<string, number> = {}
    this.#environment.metricNames().forEach((name, column) => {
      const value = this.#guest.buffers.metrics.subarray(0, MAX_METRICS)[column]
      if (!Number.isNaN(value)) metrics[name] = value
    })
    return metrics
  }

  #seen(which: 'now' | 'final', step: SeenReply['step'], likely: SeenReply['likely']): SeenReply {
    const seen = this.#look ? this.#reader.see(which) : { observation: [], texts: [] }
    const { scene } = this.#reader.scenes.field()
    const fresh = scene && { ...scene, shapes: this.#reader.scenes.since(this.#shapesSent) }
    this.#shapesSent = this.#reader.scenes.length
    this.#guest.takeLogs()
    const logs = this.#logs.splice(0)
    return {
      ...{ kind: 'seen' as const, step, seen, logs, legal: this.#legal() },
      ...(fresh === undefined ? {} : { scene: fresh }),
      ...(likely === undefined ? {} : { likely }),
    }
  }

  #legal(): boolean[][] | null {
    const { description, buffers } = this.#guest
    if (!description.masked) return null
    const legal: boolean[][] = []
    let column = 0
    for (const count of actionLeaves(description.action).flatMap(({ counts }) => counts)) {
      legal.push(Array.from(buffers.masks.subarray(column, column + count), (mark) => mark === 1))
      column += count
    }
    return legal
  }
}

function chooserOf({ player, seed }: PlayJob, environment: VectorEnvironment): Chooser | null {
  if (player.kind === 'person') return null
  const { buffers, description } = environment
  if (player.kind === 'random') {
    let random = new RandomActions(description, seed)
    return {
      begin: (episode) => {
        random = new RandomActions(description, Math.imul(seed + 1, 0x9e3779b1) + episode)
      },
      choose: () => void random.fillRow(buffers, 0),
      likely: () => undefined,
    }
  }
  const { policy: spec, model } = player
  checkPolicySpaces(spec, description)
  // As many rows as an evaluation has: its inference rounds alike, so this is the episode that an evaluation plays.
  const session: PolicySession = loadModelSession(model, spec, { batch: EVALUATION_ENVIRONMENTS, walk: true })
  const rows = new Float32Array(EVALUATION_ENVIRONMENTS * description.sizes.observation)
  const masks = description.masked ? buffers.masks : null
  let current: SeenReply['likely']
  const look = () => {
    rows.set(buffers.observations)
    session.run(rows)
    current = likelyChoices(spec, session.distribution, masks)
    return current
  }
  return {
    begin: () => session.state?.fill(0),
    // The observation was looked at when it was shown.
    choose: () => {
      greedyActions({ spec, distribution: session.distribution, masks, rows: 1 }, buffers.actions)
      return current
    },
    likely: look,
  }
}

function answer(stage: Stage, request: PlayRequest): PlayReply {
  return request.do === 'begin' ? stage.begin(request.episode) : stage.step(request.action)
}

if (parentPort !== null) {
  const port = parentPort
  const send = (message: FromPlayThread) => port.postMessage(message)
  let stage: Stage | undefined
  port.on('message', (message: ToPlayThread) => {
    try {
      if (message.type === 'open') {
        stage = new Stage(message.job, message.encoders, message.limits, (board) => send({ type: 'board', board }))
        send({ type: 'reply', reply: stage.opened() })
      } else if (stage !== undefined) send({ type: 'reply', reply: answer(stage, message.request) })
    } catch (error) {
      if (error instanceof AgentGymError) send({ type: 'fault', error: error.toReport() })
      else send({ type: 'bug', message: error instanceof Error ? (error.stack ?? error.message) : 'unknown' })
    }
  })
  send({ type: 'ready' })
}
