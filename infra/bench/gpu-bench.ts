import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { cudaProvider } from '@agentgym/agent/engine'

/** One update of 32,768 samples for 4 epochs by 4,096: cart-pole's policy with hidden layers of these widths. */
const update = { samples: 32_768, minibatchSize: 4_096, epochs: 4, repeats: 3 }
const widths = [64, 256, 1_024]
const script = fileURLToPath(new URL('peers/ppo_torch.py', import.meta.url))

/** Seconds of an update by torch on the GPU; undefined if it fails, with the reason in the output. */
function torchSeconds(python: string, width: number, compile: boolean): number | undefined {
  const settings = {
    ...{
      samples: update.samples,
      minibatch_size: update.minibatchSize,
      epochs: update.epochs,
      repeats: update.repeats,
    },
    ...{ hidden: [width, width], learning_rate: 0.001, threads: 1, seed: 1, device: 'cuda', compile },
  }
  const { stdout, stderr, status } = spawnSync(python, [script, 'update', JSON.stringify(settings)], {
    encoding: 'utf8',
  })
  if (status === 0) return (JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as { seconds: number }).seconds
  console.log(`torch ${compile ? 'compiled' : 'eager'} failed: ${stderr?.trim().split('\n').at(-1)}`)
  return undefined
}

/** A table of updates: ours on the CPU and on the GPU, torch's on the GPU. Fails if ours cannot compute there. */
async function main(python: string): Promise<void> {
  const { learnerBenchmark } = await import('@agentgym/runtime/benchmarks')
  const seconds = async (width: number, device: string, path: 'fused' | 'autograd') => {
    const rate = await learnerBenchmark({ ...update, threads: 1, hidden: [width, width], device, path })
    return (update.samples * update.epochs) / rate
  }
  const shown = (value: number | undefined) => (value === undefined ? 'failed' : `${(value * 1_000).toFixed(1)} ms`)
  console.log('| hidden | CPU, one core | GPU | torch eager, GPU | torch compiled, GPU |\n|---|---|---|---|---|')
  for (const width of widths) {
    const ours = [await seconds(width, 'cpu', 'fused'), await seconds(width, 'cuda', 'autograd')]
    const theirs = [false, true].map((compile) => torchSeconds(python, width, compile))
    console.log(`| ${[`${width}-${width}`, ...[...ours, ...theirs].map(shown)].join(' | ')} |`)
  }
}

const { values } = parseArgs({
  options: { python: { type: 'string', default: 'python3' }, library: { type: 'boolean', default: false } },
})
// `--library`: only whether ONNX Runtime finds its CUDA library, as the exit status.
if (values.library) process.exitCode = cudaProvider().folder === null ? 1 : 0
else await main(values.python)
