import type { ExecutionProvider } from '@agentgym/agent/engine'
import { isOffPolicy, type PolicySpec, type TrainingPlan } from '@agentgym/contract'
import { parameterLayout } from '../policy/parameter-layout.ts'
import { environmentsOf, minibatchOf } from './settings.ts'

/** Where a run computes, and a line for each that `auto` chose. */
export type Devices = { learner: string; rollouts: ExecutionProvider; reasons: string[] }

/** Whether this process sees a GPU, and what could compute on it; asked for before the process is locked down. */
export type Available = { gpu: boolean; learner: boolean; rollouts: boolean }

/** Minibatch of runs that choose theirs by the scenario. */
const usualMinibatch = 256
/**
 * Weights times rows from which a GPU should win: below, the launch of its kernels alone takes longer than the
 * multiplications do on one core (about 4 ms at 30 GFLOP/s). An estimate, not measured on a GPU.
 */
const worthwhile = { learner: 20_000_000, rollouts: 20_000_000 }

/** The devices of a plan for this policy. */
export function chooseDevices(plan: TrainingPlan, policy: PolicySpec, available: Available): Devices {
  const { learner_device, rollout_provider, rollout_workers } = plan.settings
  const reasons: string[] = []
  const weights = parameterLayout(policy).totalSize
  const choose = (what: 'learner' | 'rollouts', rows: number): 'cpu' | 'cuda' => {
    const { device, because } = choice(what, { plan, policy, available, weights, rows })
    const shown = device === 'cpu' ? 'the CPU' : 'the GPU'
    reasons.push(`${what === 'learner' ? 'the learner computes' : 'rollouts compute'} on ${shown}: ${because}`)
    return device
  }
  const learner = learner_device === 'auto' ? choose('learner', minibatchOf(plan) ?? usualMinibatch) : learner_device
  const rows = Math.ceil(environmentsOf(plan) / Math.max(1, rollout_workers))
  const rollouts = rollout_provider === 'auto' ? choose('rollouts', rows) : rollout_provider
  return { learner, rollouts, reasons }
}

type Case = { plan: TrainingPlan; policy: PolicySpec; available: Available; weights: number; rows: number }

function choice(
  what: 'learner' | 'rollouts',
  { plan, policy, available, weights, rows }: Case,
): { device: 'cpu' | 'cuda'; because: string } {
  if (!available.gpu) return { device: 'cpu', because: 'this process has no GPU' }
  if (what === 'learner' && isOffPolicy(plan.algorithm)) {
    return { device: 'cpu', because: `${plan.algorithm.toUpperCase()} learns on the CPU only` }
  }
  if (!available[what]) {
    const missing = what === 'learner' ? 'the learner was built without CUDA' : 'ONNX Runtime has no CUDA library'
    return {
      device: 'cpu',
      because: `${missing} (${what === 'learner' ? 'learner_device' : 'rollout_provider'}=cuda says more)`,
    }
  }
  const size = `${weights.toLocaleString('en-US')} weights, ${rows.toLocaleString('en-US')} rows at a time`
  if (policy.convolution !== undefined && what === 'learner')
    return { device: 'cuda', because: 'the network has convolutions' }
  return weights * rows >= worthwhile[what]
    ? { device: 'cuda', because: size }
    : { device: 'cpu', because: `${size} are too few to gain from a GPU` }
}
