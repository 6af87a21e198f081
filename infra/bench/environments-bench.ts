import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openEnvironmentTarget, resolvePlan, train } from '@agentgym/runtime'
import type { Figure } from './figure.ts'

type Say = (line: string) => void

const script = fileURLToPath(new URL('peers/ppo_library.py', import.meta.url))
const SEED = 1

/** The defaults of PPO here, for both. */
const shared = { environments: 16, rollout_steps: 128, minibatch_size: 256, epochs: 8, hidden: [128, 128] }
const learning = { learning_rate: 0.001, gamma: 0.99, gae_lambda: 0.95 }
const iterations = 20
const turns = 3

/**
 * PPO on environments of Gymnasium: `agentgym train --env` beside Stable-Baselines3 on the same environments, network,
 * rollouts and cores. Both take turns, so that other work on the machine slows both; a rate is the median over a turn's
 * iterations, and figures are medians over turns. Needs a Python with `peers/requirements.txt` (AGENTGYM_BENCH_PYTHON).
 * Where there are more than two cores, run it below `taskset -c 0,1`.
 */
export async function environmentsBenchmark(out: string, say: Say): Promise<Figure[]> {
  const python = process.env.AGENTGYM_BENCH_PYTHON ?? 'python3'
  const figures: Figure[] = []
  for (const id of ['CartPole-v1', 'LunarLander-v3']) {
    const ours: number[] = []
    const theirs: number[] = []
    let versions = ''
    for (let turn = 1; turn <= turns; turn++) {
      say(`${id}, seed ${SEED}, turn ${turn} of ${turns} …`)
      ours.push(await ownRate(id, python, join(out, id, String(turn))))
      const peer = peerRate(id, python)
      theirs.push(peer.value)
      versions = peer.versions
      say(`  ours ${Math.round(ours[turn - 1])} steps/s, Stable-Baselines3 ${Math.round(peer.value)} steps/s`)
    }
    const ratios = ours.map((rate, turn) => rate / theirs[turn])
    const rate = { unit: 'steps/s', bar: null }
    const range = `${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}`
    figures.push(
      { id: `ours_${id}`, what: `${id}, agentgym train --env, seed ${SEED}`, value: median(ours), ...rate },
      { id: `sb3_${id}`, what: `${id}, Stable-Baselines3, seed ${SEED} (${versions})`, value: median(theirs), ...rate },
      {
        id: `ratio_${id}`,
        what: `${id}, ours over theirs; single turns ${range}`,
        value: median(ratios),
        unit: '×',
        bar: null,
      },
    )
  }
  return figures
}

async function ownRate(id: string, python: string, out: string): Promise<number> {
  const environment = await openEnvironmentTarget({ target: { kind: 'gymnasium', id }, python })
  const { environments, rollout_steps } = shared
  const steps = environments * rollout_steps * iterations
  const set = Object.entries({ ...shared, ...learning, steps, rollout_workers: 2, learner_threads: 1 })
  const seconds: number[] = []
  try {
    await train({
      scenario: environment,
      plan: resolvePlan(environment, {
        set: {
          ...Object.fromEntries(set.map(([key, value]) => [key, JSON.stringify(value)])),
          evaluation_episodes: '1',
        },
      }),
      seed: SEED,
      out,
      onEvent: (event) => {
        if (event.event === 'progress') seconds.push(event.seconds)
      },
    })
  } finally {
    await environment.close()
  }
  const rates = seconds.slice(2).map((later, i) => (environments * rollout_steps) / (later - seconds[i + 1]))
  return median(rates)
}

function peerRate(id: string, python: string): { value: number; versions: string } {
  const settings = { ...shared, ...learning, iterations, threads: 2, seed: SEED, environment: id }
  const { stdout, stderr, status } = spawnSync(python, [script, 'sb3', JSON.stringify(settings)], { encoding: 'utf8' })
  if (status !== 0) throw new Error(`Stable-Baselines3 failed: ${stderr.trim().split('\n').at(-1)}`)
  const { steps_per_second: value, versions } = JSON.parse(stdout.trim().split('\n').at(-1) ?? '')
  return {
    value,
    versions: Object.entries(versions)
      .map((pair) => pair.join(' '))
      .join(', '),
  }
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1]
}
