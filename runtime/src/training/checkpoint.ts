import { sha256 } from '@agentgym/agent/engine'
import { AgentGymError, type AgentParent, type Evaluation, type TrainingPlan, withDevices } from '@agentgym/contract'
import type { ScenarioIdentity } from '../sandbox/vector-environment.ts'
import { withChosen } from './chosen-defaults.ts'
import type { CurvePoint, EpisodeResult } from './run-statistics.ts'

/** A running episode, rebuilt on resume by replaying its actions. */
export type EpisodeSnapshot = { environment: number; episode: number; actions: Float32Array; state?: Float32Array }

/** Everything that a resumed run needs to end as the run that was not interrupted would have. */
export type Checkpoint = {
  scenarioHash: string
  seed: number
  plan: TrainingPlan
  /** The agent that the run started from. Absent: none. */
  parent?: AgentParent
  /** Updates done, and the environment steps that they took; schedules continue from here. */
  iteration: number
  steps: number
  seconds: number
  episodesTotal: number
  /** The last ended episodes, oldest first. */
  recent: EpisodeResult[]
  curve: CurvePoint[]
  best: { weights: Float32Array; evaluation: Evaluation; steps: number } | null
  weights: Float32Array
  /** The weights that a KL penalty holds the policy to; null where there is none. */
  reference: Float32Array | null
  learnerState: Uint8Array
  /** What was too large to be kept; a resumed run fills it anew. Absent: nothing. */
  dropped?: ['replay_buffer']
  episodes: EpisodeSnapshot[]
}

/** A larger replay buffer is left out. Servers accept checkpoints of 512 MiB. */
export const MAX_REPLAY_BYTES = 128 * 2 ** 20

type TensorHeader = { dtype: 'F32' | 'U8' | 'I32'; shape: number[]; data_offsets: [number, number] }

/**
 * Encodes a checkpoint as a safetensors file (8-byte little-endian header length, JSON header, raw arrays), readable by
 * that format's own tools. Scalars travel in its `__metadata__`, with the SHA-256 of the arrays.
 */
export function encodeCheckpoint(checkpoint: Checkpoint): Uint8Array<ArrayBuffer> {
  const { weights, learnerState, episodes, best, reference, ...scalars } = checkpoint
  const actions = new Float32Array(episodes.reduce((sum, episode) => sum + episode.actions.length, 0))
  const index = new Int32Array(episodes.length * 3)
  let filled = 0
  episodes.forEach((episode, i) => {
    index.set([episode.environment, episode.episode, episode.actions.length], i * 3)
    actions.set(episode.actions, filled)
    filled += episode.actions.length
  })
  const tensors: [string, Float32Array | Uint8Array | Int32Array][] = [
    ['weights', weights],
    ['reference_weights', reference ?? new Float32Array(0)],
    ['best_weights', best?.weights ?? new Float32Array(0)],
    ['episode_actions', actions],
    ['episode_index', index],
    ['learner_state', learnerState],
  ]
  if (episodes[0]?.state !== undefined) tensors.push(['episode_states', joined(episodes.map(({ state }) => state))])
  const header: Record<string, TensorHeader | Record<string, string>> = {}
  const body = new Uint8Array(tensors.reduce((sum, [, array]) => sum + array.byteLength, 0))
  let offset = 0
  for (const [name, array] of tensors) {
    const dtype = array instanceof Float32Array ? 'F32' : array instanceof Int32Array ? 'I32' : 'U8'
    header[name] = { dtype, shape: [array.length], data_offsets: [offset, offset + array.byteLength] }
    body.set(new Uint8Array(array.buffer, array.byteOffset, array.byteLength), offset)
    offset += array.byteLength
  }
  const bestScalars = best === null ? null : { evaluation: best.evaluation, steps: best.steps }
  header.__metadata__ = {
    format: 'agentgym-checkpoint-2',
    sha256: sha256(body),
    state: JSON.stringify({ ...scalars, best: bestScalars }),
  }
  let head = Buffer.from(JSON.stringify(header))
  head = Buffer.concat([head, Buffer.alloc((8 - (head.length % 8)) % 8, ' ')])
  const file = new Uint8Array(8 + head.length + body.length)
  new DataView(file.buffer).setBigUint64(0, BigInt(head.length), true)
  file.set(head, 8)
  file.set(body, 8 + head.length)
  return file
}

/** Arrays of one length, one after another. */
function joined(arrays: (Float32Array | undefined)[]): Float32Array {
  const length = arrays[0]?.length ?? 0
  const all = new Float32Array(arrays.length * length)
  arrays.forEach((array, i) => {
    if (array !== undefined) all.set(array, i * length)
  })
  return all
}

/** Reads what `encodeCheckpoint` wrote; a torn or foreign file throws `checkpoint_invalid`. */
export function decodeCheckpoint(content: Uint8Array, path: string): Checkpoint {
  // A copy that is no Buffer: a Buffer's `slice` shares memory, and the arrays below must own theirs, aligned.
  const file = new Uint8Array(content)
  try {
    const view = new DataView(file.buffer)
    const headLength = Number(view.getBigUint64(0, true))
    const header = JSON.parse(new TextDecoder().decode(file.subarray(8, 8 + headLength)))
    const body = file.slice(8 + headLength)
    if (header.__metadata__.format !== 'agentgym-checkpoint-2') throw new Error('another format')
    if (header.__metadata__.sha256 !== sha256(body)) throw new Error('its checksum does not match its content')
    const bytes = (name: string): ArrayBuffer => {
      const [start, end] = (header[name] as TensorHeader).data_offsets
      return body.slice(start, end).buffer
    }
    const reference = new Float32Array(bytes('reference_weights'))
    const { best, ...scalars } = JSON.parse(header.__metadata__.state)
    const index = new Int32Array(bytes('episode_index'))
    const actions = new Float32Array(bytes('episode_actions'))
    const states = header.episode_states === undefined ? null : new Float32Array(bytes('episode_states'))
    const units = states === null ? 0 : (states.length * 3) / index.length
    const episodes: EpisodeSnapshot[] = []
    let offset = 0
    for (let i = 0; i < index.length; i += 3) {
      episodes.push({
        environment: index[i],
        episode: index[i + 1],
        actions: actions.slice(offset, offset + index[i + 2]),
        ...(states === null ? {} : { state: states.slice((i / 3) * units, (i / 3 + 1) * units) }),
      })
      offset += index[i + 2]
    }
    return {
      ...scalars,
      best: best === null ? null : { ...best, weights: new Float32Array(bytes('best_weights')) },
      weights: new Float32Array(bytes('weights')),
      reference: reference.length === 0 ? null : reference,
      learnerState: new Uint8Array(bytes('learner_state')),
      episodes,
    }
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new AgentGymError(
      {
        code: 'checkpoint_invalid',
        message: `checkpoint ${path} cannot be read: ${reason}`,
        hint: 'Restore the file, or start over with --force instead of --resume.',
        data: { path },
      },
      { cause },
    )
  }
}

/** Settings that may change between the parts of a run: how a machine does the work, and how long the run is. */
const changeableSettings = [
  ...['rollout_workers', 'learner_threads', 'steps', 'calibration_episodes'],
  ...['learner_device', 'rollout_provider'],
]

/** What runs did before a setting existed: checkpoints of that time do not mention it, and continue as they began. */
const earlierSettings: Partial<TrainingPlan['settings']> = {
  convolution: 'none',
  filters: 16,
  box_actions: 'clipped',
  initial_log_std: 0,
  memory: 'none',
  memory_units: 64,
  learner_device: 'cpu',
  rollout_provider: 'cpu',
}

/** The settings that a checkpoint's run has. */
export function settingsOf(plan: TrainingPlan): TrainingPlan['settings'] {
  const constant = ['ppo', 'a2c'].includes(plan.algorithm) ? { entropy_coefficient_schedule: 'constant' } : {}
  return { ...earlierSettings, ...constant, ...withDevices(plan.settings) } as TrainingPlan['settings']
}

type ContinuedRun = {
  scenario: Pick<ScenarioIdentity, 'name' | 'hash'>
  plan: TrainingPlan
  seed: number
}

/**
 * Refuses a checkpoint that does not continue this run: `scenario_mismatch`, or `checkpoint_invalid` with the settings
 * that differ. Numbers of threads may differ, and `steps`, if it exceeds the steps already trained.
 */
export function assertContinues(checkpoint: Checkpoint, run: ContinuedRun, path: string): void {
  const { name, hash } = run.scenario
  if (checkpoint.scenarioHash !== hash) {
    throw new AgentGymError({
      code: 'scenario_mismatch',
      message: `checkpoint ${path} belongs to another build of ${name}: hash ${checkpoint.scenarioHash.slice(0, 12)}, not ${hash.slice(0, 12)}`,
      hint: 'Restore the scenario as it was, or start over with --force instead of --resume.',
      data: { path },
    })
  }
  const changed = changedSettings(checkpoint.plan, run.plan)
  if (checkpoint.seed !== run.seed) changed.push('seed')
  if (changed.length > 0) {
    throw new AgentGymError({
      code: 'checkpoint_invalid',
      message: `checkpoint ${path} was written with other settings: ${changed.join(', ')}`,
      hint: 'A resumed run has its own settings and seed: leave yours out, or start over with --force instead of --resume.',
      data: { path, field: changed[0], fields: changed },
    })
  }
  const { steps } = run.plan.settings
  if (steps !== checkpoint.plan.settings.steps && steps <= checkpoint.steps) {
    throw new AgentGymError({
      code: 'config_invalid',
      message: `steps is ${steps}, and the run has already trained for ${checkpoint.steps} steps`,
      hint: `Give a greater number: it is the total of the run, such as --steps ${2 * checkpoint.steps}.`,
      data: { path, field: 'steps' },
    })
  }
}

function changedSettings(before: TrainingPlan, now: TrainingPlan): string[] {
  if (before.algorithm !== now.algorithm) return ['algorithm']
  const current = new Map<string, unknown>(Object.entries(withChosen(now, before.settings).settings))
  // By the checkpoint's names: a setting that a later version added has its default, which changes nothing.
  return Object.entries(withDevices(before.settings))
    .filter(([name]) => !changeableSettings.includes(name))
    .filter(([name, value]) => JSON.stringify(current.get(name)) !== JSON.stringify(value))
    .map(([name]) => name)
}
