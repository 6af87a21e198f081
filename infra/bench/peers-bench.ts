import { spawnSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { learnerBenchmark } from '@agentgym/runtime/benchmarks'
import type { Figure } from './figure.ts'
import { stepsPerSecond } from './speed-bench.ts'

type Say = (line: string) => void
type Measured = { steps_per_second?: number; seconds?: number; versions: Record<string, string> }

const folder = fileURLToPath(new URL('peers', import.meta.url))
const SEED = 1

/** CartPole-v1, two separate networks of 64-64 tanh, the same rollouts, minibatches and epochs for everyone, two cores. */
const training = {
  ...{ environments: 64, rollout_steps: 128, minibatch_size: 1024, epochs: 4, hidden: [64, 64], iterations: 20 },
  ...{ learning_rate: 0.001, gamma: 0.98, gae_lambda: 0.95, threads: 2, seed: SEED },
}
/** One update of 32,768 samples for 4 epochs by 4,096. */
const updating = { ...training, samples: 32_768, minibatch_size: 4096, repeats: 5 }
const widths = [64, 256, 512]

const peers = [
  { name: 'PureJaxRL-style loop', script: 'ppo_jax.py', mode: 'train', needs: ['jax', 'optax'] },
  { name: 'CleanRL-style loop', script: 'ppo_torch.py', mode: 'train', needs: ['torch', 'gymnasium'] },
  { name: 'Stable-Baselines3', script: 'ppo_library.py', mode: 'sb3', needs: ['stable_baselines3'] },
  { name: 'sbx', script: 'ppo_library.py', mode: 'sbx', needs: ['sbx'] },
]

/**
 * PPO of this project beside other libraries: the same network, environments, epochs and cores, one after the other in one
 * run. Medians over iterations, compilation left out. Peers need a Python that has them; `chart` is an SVG file to write.
 */
export async function peersBenchmark(out: string, chart: string | null, say: Say): Promise<Figure[]> {
  const python = process.env.AGENTGYM_BENCH_PYTHON ?? 'python3'
  const figures: Figure[] = []
  say(`cart-pole, seed ${SEED}: ours …`)
  const { environments, rollout_steps, minibatch_size, epochs, hidden, iterations } = training
  const set = Object.entries({ environments, rollout_steps, minibatch_size, epochs, hidden })
  const ours = await stepsPerSecond(
    {
      scenario: 'cart-pole',
      algorithm: 'ppo',
      set: {
        ...Object.fromEntries(set.map(([key, value]) => [key, JSON.stringify(value)])),
        steps: String(environments * rollout_steps * iterations * 4),
      },
    },
    join(out, 'peers'),
  )
  const rate = { unit: 'steps/s', bar: null }
  figures.push({ id: 'ours', what: `AgentGym, seed ${SEED}`, value: ours, ...rate })
  for (const { name, script, mode, needs } of peers) {
    if (!has(python, needs, name, say)) continue
    say(`cart-pole, seed ${SEED}: ${name} …`)
    const { steps_per_second = 0, versions } = ask(python, script, mode, training)
    figures.push({
      id: `${mode}_${script}`,
      what: `${name}, seed ${SEED} (${text(versions)})`,
      value: steps_per_second,
      ...rate,
    })
  }
  if (chart !== null) await writeFile(chart, draw(figures))
  for (const width of widths) figures.push(...(await updates(python, width, say)))
  return figures
}

/** Our seconds for one update, and how many times as long torch and JAX take. */
async function updates(python: string, width: number, say: Say): Promise<Figure[]> {
  const { samples, minibatch_size: minibatchSize, epochs, threads, repeats } = updating
  const network = [width, width]
  say(`update of ${samples} samples, ${network.join('-')}: ours …`)
  const perSecond = await learnerBenchmark({ samples, minibatchSize, epochs, threads, repeats, hidden: network })
  const ours = (samples * epochs) / perSecond
  const what = `update of 32,768 samples × 4 epochs, ${network.join('-')}`
  const figures: Figure[] = [{ id: `update_${width}`, what, value: ours, unit: 's', bar: null }]
  const others = [
    { name: 'torch', script: 'ppo_torch.py', needs: ['torch', 'gymnasium'] },
    { name: 'JAX', script: 'ppo_jax.py', needs: ['jax', 'optax'] },
  ]
  for (const { name, script, needs } of others) {
    if (!has(python, needs, name, say)) continue
    say(`update of ${samples} samples, ${network.join('-')}: ${name} …`)
    const { seconds = 0, versions } = ask(python, script, 'update', { ...updating, hidden: network })
    figures.push({
      id: `update_${width}_${name.toLowerCase()}`,
      what: `${what}: time of ${name} (${text(versions)}) over ours`,
      value: seconds / ours,
      unit: '×',
      bar: width === 64 ? null : 1.2,
    })
  }
  return figures
}

/** Whether the Python has these modules; says once how to make one that does. */
function has(python: string, modules: string[], name: string, say: Say): boolean {
  const found = modules.map((module) => `importlib.util.find_spec(${JSON.stringify(module)}) is not None`).join(' and ')
  const { stdout } = spawnSync(python, ['-c', `import importlib.util; print(${found})`], { encoding: 'utf8' })
  if (stdout?.trim() === 'True') return true
  say(`${name} is left out: ${python} does not have ${modules.join(', ')}. To make a Python that does:
  python3 -m venv /tmp/peers && /tmp/peers/bin/pip install -r infra/bench/peers/requirements.txt
  AGENTGYM_BENCH_PYTHON=/tmp/peers/bin/python npm run bench -- peers`)
  return false
}

function ask(python: string, script: string, mode: string, settings: object): Measured {
  const { stdout, stderr, status } = spawnSync(python, [join(folder, script), mode, JSON.stringify(settings)], {
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`${script} ${mode} failed: ${stderr.trim().split('\n').at(-1)}`)
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '')
}

function text(versions: Record<string, string>): string {
  return Object.entries(versions)
    .map(([name, version]) => `${name} ${version}`)
    .join(', ')
}

/** Horizontal bars on a logarithmic scale: the rates differ by more than ten times. */
function draw(figures: Figure[]): string {
  const width = 900
  const row = 34
  const largest = Math.max(...figures.map(({ value }) => value))
  const rows = figures.map(({ what, value }, i) => {
    const length = (value / largest) * (width - 100)
    const y = 34 + i * row
    const color = i === 0 ? '#2563eb' : '#94a3b8'
    return `<text x="8" y="${y + 10}">${what}</text>
<rect x="8" y="${y + 14}" width="${length.toFixed(1)}" height="10" fill="${color}"/>
<text x="${(length + 16).toFixed(1)}" y="${y + 23}">${Math.round(value).toLocaleString('en-US')}</text>`
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${44 + figures.length * row}" font-family="sans-serif" font-size="12">
<rect width="100%" height="100%" fill="#ffffff"/>
<text x="8" y="18" font-weight="bold">PPO on CartPole, environment steps a second on two cores</text>
${rows.join('\n')}
</svg>
`
}
