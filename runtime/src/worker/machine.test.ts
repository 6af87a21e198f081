import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { describeMachine, MachineUsage, machineName, queryGpus } from './machine.ts'

const usualPath = process.env.PATH
let folder: string
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'agentgym-test-'))
})
afterEach(() => {
  process.env.PATH = usualPath
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true, force: true })
})

/** A program named as NVIDIA's is, and no other on the PATH. */
function installTool(script: string): void {
  const file = path.join(folder, 'nvidia-smi')
  writeFileSync(file, `#!/bin/sh\n${script}\n`)
  chmodSync(file, 0o755)
  process.env.PATH = folder
}

describe('a machine', () => {
  it('is told with its GPUs', async () => {
    installTool(`case "$1" in
      --query-gpu=name,memory.total,uuid,driver_version)
        printf 'NVIDIA H100 80GB HBM3, 81559, GPU-1a, 580.95.05\\nTesla T4, 15360, GPU-2b, 580.95.05\\n' ;;
      --query-gpu=utilization.gpu) printf '50\\n100\\n' ;;
    esac`)
    const { cores, memory_bytes, gpus, cuda } = await describeMachine()
    expect(cores).toBeGreaterThan(0)
    expect(memory_bytes).toBeGreaterThan(2 ** 20)
    expect(gpus).toEqual([
      { name: 'NVIDIA H100 80GB HBM3', memory_bytes: 81_559 * 2 ** 20 },
      { name: 'Tesla T4', memory_bytes: 15_360 * 2 ** 20 },
    ])
    // What computes on them, here nothing: no device stands behind the program.
    expect(cuda).toEqual({ driver: '580.95.05', libtorch: null, onnxruntime: null })
    expect(await queryGpus(['utilization.gpu'])).toEqual([['50'], ['100']])
  })

  it('shows how busy its GPUs are, without those that are hidden', async () => {
    installTool(`case "$1" in
      --query-gpu=utilization.gpu,memory.used,memory.total,uuid)
        printf '50, 1000, 4000, GPU-1a\\n100, 3000, 4000, GPU-2b\\n' ;;
    esac`)
    const sampled = async () => {
      const usage = new MachineUsage({ hasGpu: true })
      await expect.poll(() => usage.current.gpu).not.toBeNull()
      usage.close()
      return usage.current
    }
    expect(await sampled()).toMatchObject({ gpu: 0.75, gpu_memory: 0.5 })
    vi.stubEnv('CUDA_VISIBLE_DEVICES', 'GPU-2')
    expect(await sampled()).toMatchObject({ gpu: 1, gpu_memory: 0.75 })
    vi.stubEnv('CUDA_VISIBLE_DEVICES', '0')
    expect(await sampled()).toMatchObject({ gpu: 0.5, gpu_memory: 0.25 })
  })

  it('shows no use of GPUs that do not say', async () => {
    installTool(`printf '[N/A], [N/A], 4000, MIG-1\\n'`)
    const usage = new MachineUsage({ hasGpu: true })
    await setTimeout(50)
    usage.close()
    expect(usage.current).toMatchObject({ gpu: null, gpu_memory: null })
  })

  it.each([
    ['is not there', undefined],
    ['fails', 'exit 9'],
  ])('has none where the tool %s', async (_, script) => {
    if (script === undefined) process.env.PATH = folder
    else installTool(script)
    expect((await describeMachine()).gpus).toEqual([])
  })

  it('has a name that the contract takes', () => {
    expect(machineName()).toMatch(/^[\w .:@()-]{1,80}$/)
  })

  it('tells how busy it is, as shares', () => {
    const usage = new MachineUsage({ hasGpu: false })
    const { cpu, memory, gpu } = usage.current
    usage.close()
    expect(cpu === null || (cpu >= 0 && cpu <= 1)).toBe(true)
    expect(memory).toBeGreaterThan(0)
    expect(memory).toBeLessThanOrEqual(1)
    expect(gpu).toBeNull()
  })
})
