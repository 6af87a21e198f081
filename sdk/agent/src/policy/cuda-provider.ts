import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, realpathSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { AgentGymError } from '@agentgym/contract'

/** ONNX Runtime's CUDA library, which onnxruntime-node does not contain. */
export type CudaProvider = {
  /** Folder of the library; null if there is none that can be used. */
  folder: string | null
  /** Folders of the libraries that it loads (cuBLAS, cuDNN), as pip installs them. The system's are found without. */
  libraries: string[]
  /** Why there is none, and what to do. */
  problem: { message: string; hint: string } | null
}

const files = ['libonnxruntime_providers_shared.so', 'libonnxruntime_providers_cuda.so']
/** A folder with these files. */
export const cudaFolderVariable = 'AGENTGYM_ONNXRUNTIME_CUDA'

let found: CudaProvider | undefined

/** Found once a process. */
export function cudaProvider(): CudaProvider {
  found ??= findCudaProvider(binaryFolder(), onnxRuntimeVersion())
  return found
}

/** Throws `execution_provider_unavailable` where ONNX Runtime has no CUDA library that it could load. */
export function requireCudaProvider(): void {
  const { problem } = cudaProvider()
  if (problem === null) return
  throw new AgentGymError({
    code: 'execution_provider_unavailable',
    message: `rollout_provider is cuda, and ${problem.message}`,
    hint: `${problem.hint} Or use --set rollout_provider=cpu.`,
    data: { field: 'rollout_provider', rollout_provider: 'cuda' },
  })
}

/** Version of onnxruntime-node. Its CUDA library must be of the same. */
export function onnxRuntimeVersion(): string {
  const manifest = path.join(binaryFolder(), '../../../../package.json')
  return (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version
}

/** Where onnxruntime-node's own library is, and where it looks for the one of CUDA. */
function binaryFolder(): string {
  const entry = createRequire(import.meta.url).resolve('onnxruntime-node/dist/binding.js')
  return path.join(path.dirname(realpathSync(entry)), '../bin/napi-v6', process.platform, process.arch)
}

/**
 * The library in `binaries`, where npm's install script puts it if it may run and reach its feed; else that of the folder in
 * AGENTGYM_ONNXRUNTIME_CUDA, else that of pip's onnxruntime-gpu, which is linked there.
 */
export function findCudaProvider(
  binaries: string,
  version: string,
  environment: NodeJS.ProcessEnv = process.env,
): CudaProvider {
  if (files.every((file) => existsSync(path.join(binaries, file)))) {
    const folder = path.dirname(realpathSync(path.join(binaries, files[1])))
    return { folder, libraries: librariesBeside(folder), problem: null }
  }
  const named = environment[cudaFolderVariable]
  const folder = named || pipFolder(environment)
  if (folder === undefined)
    return none(
      `onnxruntime-node has no CUDA library in ${binaries}, and python3 has no onnxruntime-gpu`,
      `Install it: pip install onnxruntime-gpu==${version}. Or name a folder with ${files[1]} in ${cudaFolderVariable}.`,
    )
  const missing = files.find((file) => !existsSync(path.join(folder, file)))
  if (missing !== undefined)
    return none(
      `${folder}${named ? `, which ${cudaFolderVariable} names,` : ''} has no ${missing}`,
      `Install it: pip install onnxruntime-gpu==${version} (onnxruntime without -gpu has none).`,
    )
  const other = versionIn(folder)
  if (other !== undefined && other !== version)
    return none(
      `the CUDA library in ${folder} is of ONNX Runtime ${other}, and onnxruntime-node is ${version}`,
      `Install the same: pip install onnxruntime-gpu==${version}.`,
    )
  try {
    for (const file of files) link(path.join(folder, file), path.join(binaries, file))
  } catch (error) {
    return none(
      `the CUDA library cannot be linked into ${binaries}: ${(error as Error).message}`,
      `Run as who may write there: ln -s ${path.join(folder, 'libonnxruntime_providers_*.so')} ${binaries}/`,
    )
  }
  return { folder, libraries: librariesBeside(folder), problem: null }
}

function none(message: string, hint: string): CudaProvider {
  return { folder: null, libraries: [], problem: { message, hint } }
}

function link(target: string, file: string): void {
  try {
    symlinkSync(target, file)
  } catch (error) {
    // Another process has just done so.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

/** Folder of the libraries of Python's onnxruntime. Nothing is imported, which would take a second. */
function pipFolder(environment: NodeJS.ProcessEnv): string | undefined {
  const script =
    'import importlib.util as u, os; s = u.find_spec("onnxruntime"); print(os.path.dirname(s.origin) if s and s.origin else "")'
  try {
    const output = execFileSync('python3', ['-c', script], { env: environment, stdio: 'pipe', timeout: 10_000 })
    const folder = output.toString().trim()
    return folder === '' ? undefined : path.join(folder, 'capi')
  } catch {
    return undefined
  }
}

/** The wheel carries `libonnxruntime.so.1.30.0`, which nothing here loads. */
function versionIn(folder: string): string | undefined {
  return readdirSync(folder)
    .map((name) => /^libonnxruntime\.so\.(\d+\.\d+\.\d+)$/.exec(name)?.[1])
    .find((version) => version !== undefined)
}

/** pip's packages of NVIDIA's libraries, in `site-packages/nvidia/NAME/lib`. */
function librariesBeside(folder: string): string[] {
  const nvidia = path.join(folder, '../../nvidia')
  if (!existsSync(nvidia)) return []
  return readdirSync(nvidia)
    .map((name) => path.join(nvidia, name, 'lib'))
    .filter((library) => existsSync(library))
    .sort()
}
