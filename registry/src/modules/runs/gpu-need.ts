import { AgentGymError, gpuNumber, isOffPolicy, type TrainingPlan } from '@agentgym/contract'
import { type GpuNeed, type GpuUse, noGpus } from '../../core/queue/gpu-matching.ts'

/** What a request says about GPUs. */
export type GpuRequest = { count: number; memory_gb?: number | undefined } | undefined

/** Settings of a run that asks for a GPU and does not say what computes on it. */
export const settingsOnGpu = { learner_device: 'auto', rollout_provider: 'auto' } as const

/**
 * The GPUs that a run needs: those that it asks for, and at least those that its settings name. Throws `config_invalid` if it
 * asks for GPUs and leaves them idle, or names one beyond those that it asks for.
 */
export function gpuNeedOf({ algorithm, settings }: TrainingPlan, request: GpuRequest): GpuNeed {
  const { learner_device: device, rollout_provider: provider } = settings
  const number = gpuNumber(device)
  const named = number === null ? 0 : number + 1
  const learns = !isOffPolicy(algorithm)
  const uses: GpuUse[] = []
  if (named > 0 || (request !== undefined && device === 'auto' && learns)) uses.push('learner')
  if (provider === 'cuda' || (request !== undefined && provider === 'auto' && !learns)) uses.push('rollouts')
  if (request === undefined) {
    return uses.length === 0 ? noGpus : { gpus: Math.max(1, named), gpu_memory: 0, gpu_uses: uses }
  }
  if (uses.length === 0)
    throw invalid(
      'the run asks for a GPU, and learner_device and rollout_provider leave it idle',
      'Leave both settings out, or ask for no GPU.',
    )
  if (named > request.count)
    throw invalid(
      `learner_device is ${device}, and the run asks for ${request.count === 1 ? '1 GPU' : `${request.count} GPUs`}`,
      'Number its own GPUs from cuda:0, or ask for more.',
    )
  return { gpus: request.count, gpu_memory: Math.round((request.memory_gb ?? 0) * 1e9), gpu_uses: uses }
}

function invalid(message: string, hint: string): AgentGymError {
  return new AgentGymError({ code: 'config_invalid', message, hint, data: { field: 'gpu' } })
}

/** Throws `config_invalid` for a run of several workers that one worker must train. */
export function requireTogether(plan: TrainingPlan, { gpus }: GpuNeed, workers: number): void {
  if (workers === 1) return
  const refuse = (message: string, hint: string) =>
    new AgentGymError({ code: 'config_invalid', message, hint, data: { field: 'workers' } })
  if (isOffPolicy(plan.algorithm))
    throw refuse(`${plan.algorithm} learns on one worker`, 'Several workers train by ppo, a2c and grpo.')
  if (gpus > 0) throw refuse('a run on GPUs has one worker', 'Several workers add up gradients of their CPUs.')
  const [shares, what] =
    plan.algorithm === 'grpo' ? [plan.settings.groups, 'groups'] : [plan.settings.environments, 'environments']
  if (shares < workers)
    throw refuse(`${shares} ${what} cannot be shared by ${workers} workers`, `Set ${what} to ${workers} at least.`)
}

/** Why a run waits that no connected worker can serve, or too few. */
export function unservedText({ gpus, gpu_memory, gpu_uses, workers }: GpuNeed & { workers: number }): string {
  if (workers > 1)
    return `The run needs ${workers} workers at once, and fewer are connected that train with others. It waits for them, and costs nothing until then.`
  const memory = gpu_memory === 0 ? '' : ` with ${Number((gpu_memory / 1e9).toFixed(2))} GB each`
  const wanted = gpus === 1 ? `a GPU${memory.replace(' each', '')}` : `${gpus} GPUs${memory}`
  const users = gpu_uses.map((use) => (use === 'learner' ? 'the learner' : 'rollouts')).join(' and ')
  return `No connected worker has ${wanted} for ${users}. The run waits for one, and costs nothing until then.`
}
