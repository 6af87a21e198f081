import { AgentGymError, gpuNumber } from '@agentgym/contract'

/** What libtorch can compute on: its version, whether it was built with CUDA, and how many GPUs it finds. */
export type Cuda = { libtorch: string; built: boolean; devices: number }

/** How the addon numbers the CPU among devices. */
export const CPU = -1

/** Number of the GPU that a device names, as in `cuda:1`; `CPU` for the CPU. */
export function deviceNumber(device: string): number {
  return gpuNumber(device) ?? CPU
}

/** Throws `execution_provider_unavailable` where libtorch cannot compute on the GPU of that number. */
export function requireDevice(device: string, { libtorch, built, devices }: Cuda): void {
  if (deviceNumber(device) < devices) return
  const found = devices === 0 ? 'no GPU' : devices === 1 ? '1 GPU' : `${devices} GPUs`
  const [reason, hint] = built
    ? [
        `libtorch ${libtorch} finds ${found} on this machine`,
        devices > 0
          ? 'Name one that exists: cuda is the first, cuda:1 the second.'
          : 'Check that nvidia-smi lists a GPU (in a container, that it was given one), and that its driver is not older than this libtorch needs. Or use --set learner_device=cpu.',
      ]
    : [
        `the learner was built with libtorch ${libtorch}, which has no CUDA`,
        'Build it with a torch that has: pip install torch, then sh runtime/learner/build.sh. Or use --set learner_device=cpu.',
      ]
  throw new AgentGymError({
    code: 'execution_provider_unavailable',
    message: `learner_device is ${device}, and ${reason}`,
    hint,
    data: { field: 'learner_device', learner_device: device, libtorch, devices },
  })
}
