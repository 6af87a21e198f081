/** Libraries that bring thread pools of their own get one thread: the rollout workers and the learner share the cores. */
export function threadEnvironment(): Record<string, string> {
  return { OMP_NUM_THREADS: '1', OPENBLAS_NUM_THREADS: '1', MKL_NUM_THREADS: '1' }
}
