import {
  allocateBuffers,
  createEngine,
  describeScenario,
  type Engine,
  EngineFault,
  type EngineOptions,
  type EnvironmentBuffers,
  PENDING,
  type Progress,
  type ScenarioDescription,
  TERMINATED,
  TRUNCATED,
} from '../src/engine/index.ts'

export type StartedEngine = { engine: Engine; buffers: EnvironmentBuffers; description: ScenarioDescription }

/** An engine that has not been reset yet. */
export function startEngine(definition: unknown, options: Partial<EngineOptions> = {}): StartedEngine {
  const description = describeScenario(definition)
  const whole: EngineOptions = { environments: 1, seed: 7, plan: { split: 'train' }, ...options }
  const buffers = allocateBuffers(whole.environments, description.sizes)
  return { engine: createEngine(definition, description, whole, buffers), buffers, description }
}

/** The fault that `run` must end with. */
export function faultOf(run: () => unknown): EngineFault {
  try {
    run()
  } catch (thrown) {
    if (EngineFault.is(thrown)) return thrown
    throw thrown
  }
  throw new Error('no fault')
}

/** Does what the sandbox does between two crossings: lets the microtasks drain, then settles. Returns the crossings. */
export async function settleAll(engine: Engine, progress: Progress): Promise<number> {
  let crossings = 1
  for (let left = progress; left === PENDING; crossings += 1) {
    await new Promise((resolve) => setImmediate(resolve))
    left = engine.settle()
  }
  return crossings
}

/** A number in [0, 1) that depends on nothing but its arguments: tests choose actions by it. */
function pseudoRandom(...words: number[]): number {
  let hash = 0x9e3779b9
  for (const word of words) {
    hash = Math.imul(hash ^ word, 0x85ebca6b)
    hash ^= hash >>> 13
    hash = Math.imul(hash, 0xc2b2ae35)
    hash ^= hash >>> 16
  }
  return (hash >>> 0) / 4294967296
}

/** Writes an action for every environment: categorical leaves by pseudoRandom, boxes beyond their bounds on purpose. */
export function chooseActions(started: StartedEngine, step: number, firstEnvironment = 0): void {
  const { action, sizes } = started.description
  const { actions, flags } = started.buffers
  for (let row = 0; row < flags.length; row += 1) {
    for (let column = 0; column < sizes.action; column += 1) {
      const draw = pseudoRandom(firstEnvironment + row, step, column)
      const at = row * sizes.action + column
      if (action.type === 'discrete') actions[at] = Math.floor(draw * action.n)
      else if (action.type === 'multiDiscrete') actions[at] = Math.floor(draw * action.nvec[column])
      else actions[at] = 4 * draw - 2
    }
  }
}

/** Everything an environment's rows say after a step, as one line. */
export function rowsOf({ buffers, description }: StartedEngine, row: number): string {
  const { sizes } = description
  const cut = (array: Float32Array | Uint8Array, columns: number) =>
    Array.from(array.subarray(row * columns, (row + 1) * columns)).join(',')
  const flags = buffers.flags[row]
  const ended = (flags & (TERMINATED | TRUNCATED)) !== 0
  const end = ended
    ? `${cut(buffers.finalObservations, sizes.observation)} ${buffers.episodeReturns[row]} ${buffers.episodeLengths[row]} ${buffers.episodeNumbers[row]} ${buffers.metrics[row * 32]}`
    : ''
  return `${flags} ${buffers.rewards[row]} ${cut(buffers.observations, sizes.observation)} ${cut(buffers.masks, sizes.mask)} ${end}`
}

/** Plays `steps` vector steps from a reset; the lines of each environment. */
export function trajectories(started: StartedEngine, steps: number, firstEnvironment = 0): string[][] {
  const lines: string[][] = []
  started.engine.reset()
  for (let row = 0; row < started.buffers.flags.length; row += 1) lines.push([rowsOf(started, row)])
  for (let step = 0; step < steps; step += 1) {
    chooseActions(started, step, firstEnvironment)
    started.engine.step()
    for (let row = 0; row < lines.length; row += 1) lines[row].push(rowsOf(started, row))
  }
  return lines
}
