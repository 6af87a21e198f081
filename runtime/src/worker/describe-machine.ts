import { execFile } from 'node:child_process'
import { availableParallelism, hostname, totalmem } from 'node:os'
import { promisify } from 'node:util'
import type { WorkerDescription } from '@agentgym/contract'

const run = promisify(execFile)

export type Machine = Pick<WorkerDescription, 'cores' | 'memory_bytes' | 'gpus'>

/** What a worker has to work with: of a container its share, not the machine's. */
export async function describeMachine(): Promise<Machine> {
  return { cores: availableParallelism(), memory_bytes: memoryBytes(), gpus: await listGpus() }
}

/** Of the machine, or less where a container may use less. */
export function memoryBytes(): number {
  const total = totalmem()
  const constrained = process.constrainedMemory()
  return constrained > 0 && constrained < total ? constrained : total
}

/** Name of this machine, in the characters that a worker's name may have. */
export function machineName(): string {
  const name = hostname()
    .replace(/[^\w .:@()-]+/g, '-')
    .slice(0, 80)
  return name === '' ? 'worker' : name
}

/** GPUs as `nvidia-smi` tells them; none where it is not there. */
async function listGpus(): Promise<Machine['gpus']> {
  const rows = await queryGpus(['name', 'memory.total'])
  return rows.slice(0, 64).map(([name, mebibytes]) => ({
    name: name.slice(0, 80),
    memory_bytes: Math.round(Number(mebibytes) * 2 ** 20) || 0,
  }))
}

/** One row a GPU; no row where there is no `nvidia-smi`, or it fails. */
export async function queryGpus(fields: string[]): Promise<string[][]> {
  const parameters = [`--query-gpu=${fields.join(',')}`, '--format=csv,noheader,nounits']
  try {
    const { stdout } = await run('nvidia-smi', parameters, { timeout: 5_000 })
    return stdout
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map((line) => line.split(',').map((field) => field.trim()))
  } catch {
    return []
  }
}
