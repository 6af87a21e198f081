import assert from 'node:assert'
import { parentPort } from 'node:worker_threads'
import { TextVectors } from '@agentgym/agent/engine'
import { AgentGymError } from '@agentgym/contract'
import { openEnvironment, type PlayedEnvironment } from '../external/open-environment.ts'
import { createPolicySession, type RolloutSession } from '../policy/policy-session.ts'
import type { VectorEnvironment } from '../sandbox/vector-environment.ts'
import { allocateSegment, RolloutCollector } from './collect-rollout.ts'
import { encodeObservations } from './encode-observations.ts'
import type { EnvironmentSnapshot, EpisodeColumns } from './episodes.ts'
import type { WorkerConfiguration, WorkerOpen, WorkerReply, WorkerRequest } from './worker-channel.ts'

type Configured = {
  /** The guest's, with the vectors of its texts. */
  environment: VectorEnvironment
  session: RolloutSession
  collector: RolloutCollector
  weights: Float32Array
  vectors: TextVectors
}

/** One rollout thread: an isolate with its environments or a link to the user's process, an inference session, and the loop over both. */
class RolloutWorker {
  readonly #reply: (reply: WorkerReply) => void
  #opened: { open: WorkerOpen; environment: PlayedEnvironment } | null = null
  #configured: Configured | null = null

  constructor(reply: (reply: WorkerReply) => void) {
    this.#reply = reply
  }

  answer(request: WorkerRequest): WorkerReply {
    switch (request.type) {
      case 'open':
        return this.#open(request)
      case 'configure':
        return this.#configure(request)
      case 'collect': {
        const { session, collector, weights, vectors } = this.#ready()
        session.setWeights(weights)
        vectors.learn(request.learned)
        return this.#collected(collector.collect(request.startStep, request.exploration))
      }
      case 'collectEpisodes': {
        const { session, collector, weights, vectors } = this.#ready()
        session.setWeights(weights)
        vectors.learn(request.learned)
        return this.#collected(collector.collectEpisodes(request.episode))
      }
      case 'snapshot': {
        const { session, collector } = this.#ready()
        const snapshots = collector.recorder.snapshot(this.#guest().open.firstEnvironment)
        if (session.state !== null) {
          for (const [i, snapshot] of snapshots.entries()) snapshot.state = stateOf(session, i)?.slice()
        }
        return { type: 'snapshots', snapshots }
      }
      case 'restore': {
        const { environment, session } = this.#ready()
        const { open } = this.#guest()
        if (!environment.replays) return this.#beginAnew(request.snapshots)
        for (const { environment: number, episode, actions, state } of request.snapshots) {
          environment.restore(number - open.firstEnvironment, episode, actions)
          if (state !== undefined) stateOf(session, number - open.firstEnvironment)?.set(state)
        }
        this.#ready().collector.recorder.restore(request.snapshots)
        return { type: 'restored' }
      }
      case 'close':
        this.#configured?.session.dispose()
        this.#configured?.vectors.dispose()
        this.#opened?.environment.dispose()
        return { type: 'closed' }
    }
  }

  #collected(episodes: EpisodeColumns): WorkerReply {
    this.#guest().environment.takeLogs()
    const { vectors } = this.#ready()
    return {
      type: 'collected',
      episodes: episodes.pack(),
      encoding: vectors.takeCounts(),
      encoded: vectors.takeFresh(),
    }
  }

  #open(open: WorkerOpen): WorkerReply {
    const { scenario, link, environments, firstEnvironment, groupSize, seed, limits, keepLogs } = open
    const environment = openEnvironment(scenario, link, {
      environments,
      firstEnvironment,
      seed,
      plan: groupSize === null ? { split: 'train' } : { split: 'train', groupSize },
      limits,
      // Sent before the guest runs, so that the main thread can see where a guest hangs.
      onBoard: (board) => this.#reply({ type: 'board', board }),
      logs: { keep: keepLogs, take: (logs) => this.#reply({ type: 'logs', logs }) },
    })
    this.#opened = { open, environment }
    return { type: 'opened', description: environment.description }
  }

  #configure({ spec, rolloutSteps, executionProvider, encoders, weights }: WorkerConfiguration): WorkerReply {
    const { open, environment: guest } = this.#guest()
    const vectors = this.#configured?.vectors ?? new TextVectors(encoders)
    const environment = encodeObservations(guest, vectors)
    const { environments, groupSize, seed, firstEnvironment } = open
    const shape = { steps: rolloutSteps, environments, episodes: groupSize !== null }
    const segment = allocateSegment(environment.description, spec, shape)
    const session = createPolicySession(spec, { batch: environments, executionProvider })
    const collector = new RolloutCollector({ environment, session, segment, seed, firstEnvironment })
    environment.reset()
    this.#configured?.session.dispose()
    this.#configured = { environment, session, collector, weights, vectors }
    return { type: 'configured', segment }
  }

  /** Episodes under way cannot be continued: later ones begin, which no earlier part of the run has played. */
  #beginAnew(snapshots: EnvironmentSnapshot[]): WorkerReply {
    const { environment, collector } = this.#ready()
    const episode = 1 + snapshots.reduce((latest, snapshot) => Math.max(latest, snapshot.episode), 0)
    environment.reset(episode)
    const none = new Float32Array(0)
    collector.recorder.restore(snapshots.map((snapshot) => ({ ...snapshot, episode, actions: none })))
    return { type: 'restored' }
  }

  #guest() {
    assert(this.#opened !== null, 'open comes first')
    return this.#opened
  }

  #ready() {
    assert(this.#configured !== null, 'configure comes first')
    return this.#configured
  }
}

/** What the policy remembers in one row. */
function stateOf({ state, batch }: RolloutSession, row: number): Float32Array | undefined {
  return state?.subarray((row * state.length) / batch, ((row + 1) * state.length) / batch)
}

assert(parentPort !== null, 'runs as a worker thread')
const port = parentPort
const reply = (message: WorkerReply) => port.postMessage(message)
const worker = new RolloutWorker(reply)
port.on('message', (request: WorkerRequest) => {
  try {
    reply(worker.answer(request))
  } catch (error) {
    if (error instanceof AgentGymError) reply({ type: 'fault', error: error.toReport() })
    else reply({ type: 'bug', message: error instanceof Error ? (error.stack ?? error.message) : String(error) })
  }
  if (request.type === 'close') port.close()
})
reply({ type: 'ready' })
