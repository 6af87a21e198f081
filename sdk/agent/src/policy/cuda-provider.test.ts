import { chmodSync, mkdirSync, mkdtempSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { cudaFolderVariable, findCudaProvider, onnxRuntimeVersion } from './cuda-provider.ts'

const version = '1.30.0'
const cuda = 'libonnxruntime_providers_cuda.so'
const names = [cuda, 'libonnxruntime_providers_shared.so']
let folder: string
let binaries: string
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'agentgym-test-'))
  binaries = path.join(folder, 'binaries')
  mkdirSync(binaries)
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** Folders and empty files in the test's folder; returns the path of the first one's folder. */
function make(...files: string[]): string {
  for (const file of files) {
    mkdirSync(path.dirname(path.join(folder, file)), { recursive: true })
    writeFileSync(path.join(folder, file), '')
  }
  return path.dirname(path.join(folder, files[0]))
}

/** What pip installs, and a python3 that finds it. */
function installWheel(files: string[]): { PATH: string } {
  make('site/onnxruntime/__init__.py', ...files.map((file) => `site/onnxruntime/capi/${file}`))
  const python = path.join(folder, 'bin/python3')
  make('bin/python3')
  writeFileSync(python, `#!/bin/sh\necho ${folder}/site/onnxruntime\n`)
  chmodSync(python, 0o755)
  return { PATH: path.dirname(python) }
}

const noPython = { PATH: '/nonexistent' }
const find = (environment: NodeJS.ProcessEnv) => findCudaProvider(binaries, version, environment)

describe("ONNX Runtime's CUDA library", () => {
  it("is npm's own where its install script has run", () => {
    make(...names.map((name) => `binaries/${name}`))
    expect(find(noPython)).toEqual({ folder: binaries, libraries: [], problem: null })
  })

  it("is else linked from pip's onnxruntime-gpu, with NVIDIA's libraries beside it", () => {
    const environment = installWheel([...names, `libonnxruntime.so.${version}`])
    const libraries = ['cublas', 'cudnn'].map((name) => make(`site/nvidia/${name}/lib/lib.so`))
    const capi = path.join(folder, 'site/onnxruntime/capi')
    expect(find(environment)).toEqual({ folder: capi, libraries, problem: null })
    expect(readlinkSync(path.join(binaries, cuda))).toBe(path.join(capi, cuda))
    // From then on it is there.
    expect(find(noPython)).toEqual({ folder: capi, libraries, problem: null })
  })

  it('is that of a folder which the environment names', () => {
    const named = make(...names.map((name) => `named/${name}`))
    expect(find({ ...noPython, [cudaFolderVariable]: named }).folder).toBe(named)
  })

  it('is missing with a reason and what to install', () => {
    expect(find(noPython)).toMatchObject({
      folder: null,
      problem: {
        message: expect.stringContaining('python3 has no onnxruntime-gpu'),
        hint: expect.stringContaining(`pip install onnxruntime-gpu==${version}`),
      },
    })
    const empty = make('empty/other.so')
    expect(find({ ...noPython, [cudaFolderVariable]: empty }).problem?.message).toContain(cudaFolderVariable)
    expect(find(installWheel([names[0]])).problem?.message).toContain('has no libonnxruntime_providers_shared.so')
    const old = find(installWheel([...names, 'libonnxruntime.so.1.29.1']))
    expect(old.problem?.message).toContain(`of ONNX Runtime 1.29.1, and onnxruntime-node is ${version}`)
  })

  it('is refused, saying what to run, where it cannot be linked', () => {
    const named = make(...names.map((name) => `named/${name}`))
    const found = findCudaProvider(path.join(folder, 'absent'), version, { ...noPython, [cudaFolderVariable]: named })
    expect(found.problem?.message).toContain('cannot be linked into')
    expect(found.problem?.hint).toContain('ln -s')
  })

  it('has to be of the version that is installed', () => {
    expect(onnxRuntimeVersion()).toMatch(/^\d+\.\d+\.\d+$/)
  })
})
