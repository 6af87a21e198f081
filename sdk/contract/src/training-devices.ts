import type { TrainingAlgorithm } from './training-settings.ts'

/** Number of the GPU that a `learner_device` names, as in `cuda:1`; null where it names none. */
export function gpuNumber(device: string): number | null {
  const match = /^cuda(?::(\d+))?$/.exec(device)
  return match === null ? null : Number(match[1] ?? 0)
}

/** Whether it learns from a replay buffer, which gives single steps, and on the CPU only. */
export function isOffPolicy(algorithm: TrainingAlgorithm): algorithm is 'dqn' | 'sac' {
  return algorithm === 'dqn' || algorithm === 'sac'
}
