import type { WorkerDescription } from '@agentgym/contract'
import { type RawBuilder, sql } from 'kysely'

/*
 * Which worker can serve a run that needs GPUs. Every worker serves a run that needs none. A run has its GPUs to itself, so a
 * worker says with each request which of its GPUs are free.
 */

/** What computes on a GPU: the learner by libtorch, rollouts by ONNX Runtime. */
export type GpuUse = 'learner' | 'rollouts'

/** GPUs that a run needs: `gpus` of them, with `gpu_memory` bytes each at least. 0: none. As columns of its job. */
export type GpuNeed = { gpus: number; gpu_memory: number; gpu_uses: readonly string[] }

export const noGpus: GpuNeed = { gpus: 0, gpu_memory: 0, gpu_uses: [] }

/** What a worker offers: the memory of each free GPU in bytes, and what it can compute on them. `only`: to nothing else. */
export type GpuOffer = { memories: readonly number[]; uses: readonly GpuUse[]; only: boolean }

/** `free`: numbers of its GPUs that no run has; absent: all. A worker that reports no versions offers nothing. */
export function gpuOffer(worker: WorkerDescription | undefined, free?: readonly number[], only = false): GpuOffer {
  const { gpus = [], cuda } = worker ?? {}
  if (cuda === undefined) return { memories: [], uses: [], only }
  const offered = gpus.filter((_, index) => free === undefined || free.includes(index))
  return {
    memories: offered.map(({ memory_bytes }) => memory_bytes),
    uses: [
      ...(cuda.libtorch === null ? [] : (['learner'] as const)),
      ...(cuda.onnxruntime === null ? [] : (['rollouts'] as const)),
    ],
    only,
  }
}

/** Whether a worker that offers this can serve a job, by columns of `jobs`. */
export function isServedBy({ memories, uses, only }: GpuOffer): RawBuilder<boolean> {
  const without = only ? sql`false` : sql`gpus = 0`
  if (memories.length === 0) return sql<boolean>`${without}`
  return sql<boolean>`(${without} or (gpus > 0 and gpu_uses <@ ${sql.val([...uses])}::text[] and gpus <= (
    select count(*) from unnest(${sql.val([...memories])}::bigint[]) as gpu (memory) where gpu.memory >= gpu_memory)))`
}

/**
 * Whether a worker, a row of `workers`, has such GPUs, free or not. `need`: expressions for the columns.
 */
export function couldServe(need: Record<keyof GpuNeed, RawBuilder<unknown>>): RawBuilder<boolean> {
  const has = (library: string) => sql`workers.description #>> array['cuda', ${sql.lit(library)}] is not null`
  return sql<boolean>`(${need.gpus} = 0 or (
    (not 'learner' = any(${need.gpu_uses}) or ${has('libtorch')})
    and (not 'rollouts' = any(${need.gpu_uses}) or ${has('onnxruntime')})
    and workers.description -> 'cuda' is not null
    and ${need.gpus} <= (select count(*) from jsonb_array_elements(workers.description -> 'gpus') gpu
      where (gpu ->> 'memory_bytes')::bigint >= ${need.gpu_memory})))`
}

/** Whether a worker was connected within the last two minutes. */
export const isConnected = sql<boolean>`workers.seen_at > now() - interval '2 minutes'`

/** Whether a run, by the name of its table in the statement, needs GPUs that no connected worker has. */
export function lacksGpus(run: string): RawBuilder<boolean> {
  const [gpus, gpu_memory, gpu_uses] = ['gpus', 'gpu_memory', 'gpu_uses'].map((column) => sql.ref(`${run}.${column}`))
  return sql<boolean>`(${gpus} > 0 and not exists (
    select from workers where ${isConnected} and workers.trains and ${couldServe({ gpus, gpu_memory, gpu_uses })}))`
}
