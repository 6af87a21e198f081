/** Players that have learned nothing, and the scripted oracle, on evaluation episodes. For tests. */
import { createRng, type Rng } from '@agentgym/scenario'
import {
  actionLeaves,
  allocateBuffers,
  createEngine,
  DONE,
  describeScenario,
  type EngineOptions,
  type EnvironmentBuffers,
  type ScenarioDescription,
  TERMINATED,
  TRUNCATED,
} from '@agentgym/scenario/engine'

/** Uniform among the legal actions, anywhere within the bounds of a box. */
export function sampleActions(description: ScenarioDescription, buffers: EnvironmentBuffers, rngs: Rng[]): void {
  writeActions(description, buffers, (environment, legal) => rngs[environment].pick(legal), rngs)
}

function writeActions(
  { action, sizes }: ScenarioDescription,
  buffers: EnvironmentBuffers,
  choose: (environment: number, legal: number[]) => number,
  rngs: Rng[],
): void {
  for (const [environment, rng] of rngs.entries()) {
    for (const { kind, size, counts, offset, maskOffset, low, high } of actionLeaves(action)) {
      for (let i = 0; i < size; i += 1) {
        const at = environment * sizes.action + offset + i
        if (kind === 'box') {
          const [bottom, top] = [low[i] ?? -1, high[i] ?? 1]
          buffers.actions[at] = Math.min(top, Math.max(bottom, bottom + (top - bottom) * rng()))
          continue
        }
        const mask = environment * sizes.mask + maskOffset + counts.slice(0, i).reduce((a, b) => a + b, 0)
        const choices = Array.from({ length: counts[i] }, (_, choice) => choice)
        buffers.actions[at] = choose(
          environment,
          choices.filter((choice) => sizes.mask === 0 || buffers.masks[mask + choice] === 1),
        )
      }
    }
  }
}

/**
 * Means of the return and of the metrics over evaluation episodes of seed 3. `first` always takes the first legal choice: the
 * agent that does nothing else.
 */
export function meansOf(
  definition: unknown,
  player: 'oracle' | 'rules' | 'random' | 'first',
  episodes = 64,
): Record<string, number> {
  const description = describeScenario(definition)
  const options: EngineOptions = { environments: 16, seed: 3, plan: { split: 'eval', episodes } }
  const buffers = allocateBuffers(options.environments, description.sizes)
  const engine = createEngine(definition, description, options, buffers)
  const rngs = Array.from({ length: options.environments }, (_, environment) => createRng(100 + environment))
  const sums: Record<string, number> = { return_mean: 0 }
  let ended = 0
  for (engine.reset(); ended < episodes; ) {
    if (player === 'oracle') engine.oracle()
    else if (player === 'rules') engine.rules()
    else
      writeActions(description, buffers, (row, legal) => (player === 'first' ? legal[0] : rngs[row].pick(legal)), rngs)
    if (engine.step() !== DONE) throw new Error(`the ${player} player met a fault`)
    buffers.flags.forEach((flags, row) => {
      if ((flags & (TERMINATED | TRUNCATED)) === 0) return
      ended += 1
      sums.return_mean += buffers.episodeReturns[row]
      engine.metricNames().forEach((name, column) => {
        sums[name] = (sums[name] ?? 0) + buffers.metrics[row * 32 + column]
      })
    })
  }
  return Object.fromEntries(Object.entries(sums).map(([name, sum]) => [name, sum / episodes]))
}
