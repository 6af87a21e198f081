import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { availableParallelism, cpus, hostname, totalmem } from 'node:os'
import { promisify } from 'node:util'
import { cudaProvider, onnxRuntimeVersion } from '@agentgym/agent/engine'
import type { WorkerDescription, WorkerUsage } from '@agentgym/contract'
import { cudaOfLearner } from '../learner/learner.ts'
import { machineWalls } from '../sandbox/walls.ts'
import type { Gpu } from './worker-gpus.ts'

const run = promisify(execFile)

export type Machine = Pick<WorkerDescription, 'cores' | 'memory_bytes' | 'gpus' | 'cuda' | 'missing_walls' | 'machine'>

/** The resources of this worker: in a container its share, not the machine's. */
export async function describeMachine(found?: readonly FoundGpu[]): Promise<Machine> {
  const gpus = found ?? (await findGpus())
  const { missing } = await machineWalls()
  return {
    cores: availableParallelism(),
    memory_bytes: memoryBytes(),
    gpus: gpus.map(({ name, memory }) => ({ name, memory_bytes: memory })),
    ...(gpus.length === 0 ? {} : { cuda: describeCuda(gpus[0].driver) }),
    missing_walls: [...missing],
    machine: machineHash(),
  }
}

/** Of the machine, or less where a container may use less. */
function memoryBytes(): number {
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

/**
 * Tells this machine from others, and nothing else about it: a hash of its ID. Containers without one share that of
 * their host's boot. Two workers on one machine do not confirm each other's results.
 */
function machineHash(): string {
  const id = ['/etc/machine-id', '/proc/sys/kernel/random/boot_id']
    .map(readId)
    .find((text) => /^[0-9a-f-]{32,36}$/.test(text))
  return createHash('sha256')
    .update(`agentgym machine\n${id ?? hostname()}`)
    .digest('hex')
    .slice(0, 32)
}

function readId(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch {
    return ''
  }
}

export type FoundGpu = Gpu & { name: string; driver: string }

/** GPUs as `nvidia-smi` lists them, without those that CUDA_VISIBLE_DEVICES hides; none if it is not installed. */
export async function findGpus(): Promise<FoundGpu[]> {
  const rows = await queryGpus(['name', 'memory.total', 'uuid', 'driver_version'])
  return rows
    .filter((fields, index) => fields.length === 4 && isVisible(fields[2], index))
    .slice(0, 64)
    .map(([name, mebibytes, uuid, driver]) => ({
      ...{ name: name.slice(0, 80), uuid, driver: driver.slice(0, 40) },
      memory: Math.round(Number(mebibytes) * 2 ** 20) || 0,
    }))
}

/** By CUDA's own rules: numbers, or the beginnings of UUIDs. */
function isVisible(uuid: string, index: number): boolean {
  const visible = process.env.CUDA_VISIBLE_DEVICES?.split(',').map((id) => id.trim())
  return (
    visible?.some((id) => id !== '' && (id === String(index) || (!/^\d+$/.test(id) && uuid.startsWith(id)))) ?? true
  )
}

/** Versions of what computes on the GPUs here; null for what cannot. */
function describeCuda(driver: string): NonNullable<Machine['cuda']> {
  const { libtorch, devices } = cudaOfLearner()
  return {
    driver,
    libtorch: devices > 0 ? libtorch : null,
    onnxruntime: cudaProvider().folder === null ? null : onnxRuntimeVersion(),
  }
}

/** One row per GPU; none if `nvidia-smi` is missing or fails. */
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

const sampleMs = 5_000

/** Samples how busy the machine is, every few seconds, until `close`. `current` costs nothing. */
export class MachineUsage {
  readonly #hasGpu: boolean
  readonly #timer: NodeJS.Timeout
  #times = cpuTimes()
  #current: WorkerUsage

  constructor({ hasGpu }: { hasGpu: boolean }) {
    this.#hasGpu = hasGpu
    this.#current = { cpu: null, memory: memoryShare(), gpu: null, gpu_memory: null }
    void this.#sample()
    this.#timer = setInterval(() => void this.#sample(), sampleMs)
    this.#timer.unref()
  }

  get current(): WorkerUsage {
    return this.#current
  }

  close(): void {
    clearInterval(this.#timer)
  }

  async #sample(): Promise<void> {
    const before = this.#times
    this.#times = cpuTimes()
    const all = this.#times.all - before.all
    const cpu = all > 0 ? share((this.#times.busy - before.busy) / all) : this.#current.cpu
    this.#current = { cpu, memory: memoryShare(), ...(this.#hasGpu ? await gpuShares() : noShares) }
  }
}

function cpuTimes(): { busy: number; all: number } {
  let busy = 0
  let all = 0
  for (const { times } of cpus()) {
    const sum = times.user + times.nice + times.sys + times.idle + times.irq
    all += sum
    busy += sum - times.idle
  }
  return { busy, all }
}

function memoryShare(): number {
  return share(1 - process.availableMemory() / memoryBytes())
}

type GpuShares = Required<Pick<WorkerUsage, 'gpu' | 'gpu_memory'>>
const noShares: GpuShares = { gpu: null, gpu_memory: null }

/** Mean time in use over the visible GPUs, and the share of their memory together. */
async function gpuShares(): Promise<GpuShares> {
  const rows = await queryGpus(['utilization.gpu', 'memory.used', 'memory.total', 'uuid'])
  const visible = rows.filter((fields, index) => isVisible(fields[3] ?? '', index))
  const sum = (column: number) => visible.reduce((total, fields) => total + Number(fields[column]), 0)
  const known = (value: number) => (Number.isFinite(value) ? share(value) : null)
  return { gpu: known(sum(0) / visible.length / 100), gpu_memory: known(sum(1) / sum(2)) }
}

function share(value: number): number {
  return Math.round(Math.min(1, Math.max(0, value)) * 1_000) / 1_000
}
