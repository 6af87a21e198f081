import { existsSync } from 'node:fs'
import { cudaProvider } from '@agentgym/agent/engine'

/** Whether this process, and jobs that it starts, see a GPU of NVIDIA's. Costs nothing, unlike loading libtorch to ask it. */
export function seesGpu(gpus?: readonly string[]): boolean {
  return visibleDevices(gpus) !== '' && ['/dev/nvidiactl', '/dev/dxg'].some((file) => existsSync(file))
}

/** What a job must know to compute on these GPUs, by UUID; by default, on those that this process sees. */
export function gpuEnvironment(gpus?: readonly string[]): Record<string, string> {
  const visible = visibleDevices(gpus)
  const libraries = seesGpu(gpus) ? cudaProvider().libraries : []
  return {
    ...(visible === undefined ? {} : { CUDA_VISIBLE_DEVICES: visible }),
    ...(libraries.length === 0 ? {} : { LD_LIBRARY_PATH: libraries.join(':') }),
  }
}

function visibleDevices(gpus: readonly string[] | undefined): string | undefined {
  return gpus?.join(',') ?? process.env.CUDA_VISIBLE_DEVICES
}
