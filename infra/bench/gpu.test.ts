import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

const script = fileURLToPath(new URL('gpu.sh', import.meta.url))
let folder: string
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'agentgym-test-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** Programs before all others on the PATH. */
function install(name: string, text: string): void {
  const file = path.join(folder, name)
  writeFileSync(file, `#!/bin/sh\n${text}\n`)
  chmodSync(file, 0o755)
}

function run(...parameters: string[]) {
  const environment = { ...process.env, PATH: `${folder}:${process.env.PATH}`, OUT: path.join(folder, 'out') }
  const { stdout, stderr, status } = spawnSync('sh', [script, ...parameters], { encoding: 'utf8', env: environment })
  return { stdout, stderr, status }
}

describe('the proof on a GPU', () => {
  it('says what is missing and what it would run, and runs nothing', () => {
    install('nvidia-smi', 'exit 9')
    install('python3', 'exit 1')
    const { stdout, status } = run('--dry-run')
    expect(status).toBe(1)
    expect(stdout).toContain('missing  an NVIDIA GPU: nvidia-smi lists none')
    expect(stdout).toContain('missing  a torch with CUDA (python3): pip install torch')
    expect(stdout).toContain('without  ONNX Runtime')
    expect(stdout).toMatch(/would run, within \d+ s: sh runtime\/learner\/build\.sh/)
    expect(stdout).toMatch(/would run.*train breakout.*learner_device=cuda/)
    const seconds = Array.from(stdout.matchAll(/within (\d+) s/g), ([, number]) => Number(number))
    expect(seconds.reduce((sum, number) => sum + number, 0)).toBeLessThanOrEqual(480)
  })

  it('is ready where all is there', () => {
    install('nvidia-smi', "echo 'NVIDIA H100, 81559 MiB, 580.95.05'")
    install('python3', 'exit 0')
    for (const tool of ['cmake', 'make', 'c++']) install(tool, '')
    const { stdout, status } = run('--dry-run')
    expect(stdout).toContain('found    an NVIDIA GPU (NVIDIA H100, 81559 MiB, 580.95.05)')
    expect(stdout).not.toContain('missing')
    expect(status).toBe(0)
  })

  it('runs nothing where something is missing, and refuses other options', () => {
    install('nvidia-smi', 'exit 9')
    const { stdout, stderr, status } = run()
    expect(status).toBe(1)
    expect(stderr).toMatch(/gpu: \d+ missing; nothing was run/)
    expect(stdout).not.toContain('ok  ')
    expect(run('--fast')).toMatchObject({ status: 2, stderr: expect.stringContaining('unknown option --fast') })
  })
})
