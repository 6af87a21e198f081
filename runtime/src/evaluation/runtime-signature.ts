import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { RuntimeSignature } from '@agentgym/contract'

const require = createRequire(import.meta.url)

let signature: RuntimeSignature | undefined

/** What an evaluation's last bits may depend on, as agent.json and signed statements record it. */
export function runtimeSignature(): RuntimeSignature {
  signature ??= readSignature()
  return { ...signature }
}

function readSignature(): RuntimeSignature {
  const version = (name: string): string => (require(`${name}/package.json`) as { version: string }).version
  return {
    node: process.versions.node,
    v8: process.versions.v8,
    onnxruntime: version('onnxruntime-node'),
    platform: `${process.platform}-${process.arch}`,
    arch: process.arch,
    instructions: instructionSet(process.arch, processorFeatures()),
  }
}

/**
 * The instruction set that ONNX Runtime (MLAS) multiplies float32 matrices with, from the features that the processor
 * has, in the names of Linux. Kernels of different sets round differently in the last bit. `unknown`: the system does not
 * say what the processor has.
 */
export function instructionSet(arch: string, features: ReadonlySet<string> | null): string {
  if (features === null) return 'unknown'
  if (arch === 'arm64') return features.has('sme') ? 'sme' : 'neon'
  if (arch !== 'x64') return arch
  if (features.has('avx512f')) return 'avx512'
  if (features.has('avx2') && features.has('fma')) return 'avx2'
  return features.has('avx') ? 'avx' : 'sse'
}

function processorFeatures(): ReadonlySet<string> | null {
  try {
    if (process.platform === 'linux') return featuresOfLinux(readFileSync('/proc/cpuinfo', 'utf8'))
    if (process.platform === 'darwin') return featuresOfDarwin(execFileSync('sysctl', ['hw.optional'], darwinOptions))
    return null
  } catch {
    return null
  }
}

/** x86 calls them flags, ARM features. All processors of a machine that matters here have the same. */
export function featuresOfLinux(cpuinfo: string): ReadonlySet<string> | null {
  const line = /^(?:flags|Features)\s*:(.*)$/m.exec(cpuinfo)
  return line === null ? null : new Set(line[1].trim().split(/\s+/))
}

const darwinOptions = { encoding: 'utf8', timeout: 5_000 } as const

/** Lines such as `hw.optional.avx2_0: 1` and `hw.optional.arm.FEAT_SME: 0`. */
export function featuresOfDarwin(sysctl: string): ReadonlySet<string> {
  const names = [...sysctl.matchAll(/^hw\.optional\.(?:arm\.FEAT_)?(\w+): 1$/gm)].map(([, name]) => name.toLowerCase())
  return new Set(names.map((name) => name.replace(/^(avx\d*)_0$/, (_, avx: string) => avx.replace('avx1', 'avx'))))
}
