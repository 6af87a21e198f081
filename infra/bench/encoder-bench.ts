import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { loadScenario, resolvePlan, train } from '@agentgym/runtime'
import type { Figure } from './figure.ts'

const ticketRouting = fileURLToPath(new URL('./ticket-routing', import.meta.url))

const sizes = [50, 200, 1_000, 10_000]
const seeds = [1, 2, 3]
const set = {
  steps: '40000',
  environments: '16',
  rollout_steps: '64',
  minibatch_size: '256',
  epochs: '4',
  learning_rate: '0.003',
  entropy_coefficient: '0.01',
  gamma: '1',
  hidden: '64',
  // Standardizing each number of a vector costs new wordings: 0.57 solved instead of 0.74 (200 tickets, one seed).
  normalize_observation: 'false',
  embedding: '32',
  evaluate_every: '0',
  evaluation_episodes: '500',
  checkpoint_every: '0',
}

/**
 * How a tool policy that was trained on so many tickets resolves tickets in wordings that share no content word with them:
 * with trained embeddings of tokens, and with the frozen sentence encoder. 500 held-out tickets a run.
 */
export async function encoderBenchmark(folder: string, say: (line: string) => void): Promise<Figure[]> {
  const variants = sizes.flatMap((trainingTickets) =>
    ([null, 'minilm'] as const).map((encoder) => ({ encoder, trainingTickets, runs: [] as Run[] })),
  )
  for (const seed of seeds) {
    for (const { runs, ...variant } of variants) {
      const { encoder, trainingTickets } = variant
      const run = await resolveTickets(join(folder, `${encoder}-${trainingTickets}-${seed}`), { ...variant, seed })
      say(`${trainingTickets} tickets, ${encoder ?? 'trained embeddings'}, seed ${seed}: ${JSON.stringify(run)}`)
      runs.push(run)
    }
  }
  return variants.map(({ encoder, trainingTickets, runs }) => {
    const solved = runs.map(({ heldOut }) => heldOut)
    const range = `${Math.min(...solved).toFixed(2)} to ${Math.max(...solved).toFixed(2)} over ${seeds.length} seeds`
    const means = encoder === null ? 'trained embeddings' : 'sentence encoder'
    return {
      id: `tickets_${trainingTickets}_${encoder ?? 'embeddings'}`,
      what: `new wordings solved after ${trainingTickets} training tickets, ${means} (${range})`,
      value: solved.reduce((sum, each) => sum + each, 0) / solved.length,
      unit: 'share',
      bar: null,
    }
  })
}

type Run = {
  /** Share of held-out tickets resolved, and of the last 100 training tickets. */
  heldOut: number
  training: number
  seconds: number
  /** Texts that the rollouts encoded, and the share of texts that needed no encoding. */
  encoded: number
  hitRate: number
}

async function resolveTickets(
  folder: string,
  { seed, ...variant }: { encoder: 'minilm' | null; trainingTickets: number; seed: number },
): Promise<Run> {
  const source = join(folder, 'scenario')
  mkdirSync(folder, { recursive: true })
  cpSync(ticketRouting, source, { recursive: true, filter: (path) => !path.endsWith('.test.ts') })
  writeFileSync(join(source, 'src/variant.ts'), `export const variant = ${JSON.stringify(variant)}\n`)
  const scenario = await loadScenario(source)
  const run = { training: 0, encoded: 0, hitRate: 0 }
  const { evaluation, seconds } = await train({
    scenario,
    plan: resolvePlan(scenario, { set }),
    seed,
    out: join(folder, 'agent'),
    onEvent: (event) => {
      if (event.event !== 'progress') return
      run.training = event.metrics.solved ?? 0
      run.encoded = event.text_encoding?.encoded ?? 0
      run.hitRate = event.text_encoding?.hit_rate ?? 0
    },
  })
  return { heldOut: evaluation.metrics.solved, ...run, seconds }
}
