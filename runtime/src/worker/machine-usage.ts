import { cpus } from 'node:os'
import type { WorkerUsage } from '@agentgym/contract'
import { memoryBytes, queryGpus } from './describe-machine.ts'

const sampleMs = 5_000

/** Samples how busy the machine is, every few seconds, until `close`. `current` costs nothing. */
export class MachineUsage {
  readonly #hasGpu: boolean
  readonly #timer: NodeJS.Timeout
  #times = cpuTimes()
  #current: WorkerUsage

  constructor({ hasGpu }: { hasGpu: boolean }) {
    this.#hasGpu = hasGpu
    this.#current = { cpu: null, memory: memoryShare(), gpu: null }
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
    this.#current = { cpu, memory: memoryShare(), gpu: this.#hasGpu ? await gpuShare() : null }
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

/** Mean over the GPUs. */
async function gpuShare(): Promise<number | null> {
  const percents = (await queryGpus(['utilization.gpu'])).map(([percent]) => Number(percent))
  if (percents.length === 0 || percents.some(Number.isNaN)) return null
  return share(percents.reduce((sum, percent) => sum + percent, 0) / percents.length / 100)
}

function share(value: number): number {
  return Math.round(Math.min(1, Math.max(0, value)) * 1_000) / 1_000
}
