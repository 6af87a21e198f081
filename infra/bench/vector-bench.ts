import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { VectorClient } from '@agentgym/testkit/vector-client'
import type { Figure } from './figure.ts'

const SECONDS = 5
const SIZES = [8, 64, 1_024]

/**
 * Steps of cart-pole that `agentgym env serve` plays for a client of the vector protocol on the same machine, for one after another of the
 * numbers of environments. The bar is that of 64.
 */
export async function vectorBenchmark(say: (line: string) => void): Promise<Figure[]> {
  const root = join(import.meta.dirname, '../..')
  const child = spawn(
    join(root, 'agentgym'),
    ['env', 'serve', 'cart-pole', '--port', '0', '--exit-with-stdin', '--json'],
    {
      stdio: ['pipe', 'pipe', 'inherit'],
    },
  )
  try {
    const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
    const { url } = JSON.parse(line) as { url: string }
    const figures: Figure[] = []
    for (const environments of SIZES) {
      say(`steps over the vector protocol, ${environments} environments …`)
      const value = await stepsPerSecond(url, environments)
      const what = `env serve, cart-pole, ${environments} environments over WS /v1/vector`
      const bar = environments === 64 ? 20_000 : null
      figures.push({ id: `vector_steps_${environments}`, what, value, unit: 'steps/s', bar })
    }
    return figures
  } finally {
    child.stdin.end()
    await once(child, 'close')
  }
}

async function stepsPerSecond(url: string, environments: number): Promise<number> {
  const client = await VectorClient.open(url, { environments, autoreset: 'same_step' })
  await client.reset()
  const actions = Int32Array.from({ length: environments }, (_, row) => row % 2)
  for (let i = 0; i < 200; i += 1) await client.step(actions)
  const startMs = performance.now()
  let steps = 0
  while (performance.now() - startMs < SECONDS * 1_000) {
    await client.step(actions)
    steps += environments
  }
  const seconds = (performance.now() - startMs) / 1_000
  client.close()
  await client.closed
  return steps / seconds
}
