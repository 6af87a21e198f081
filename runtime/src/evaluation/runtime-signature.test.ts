import { runtimeSignatureSchema } from '@agentgym/contract'
import { describe, expect, it, test } from 'vitest'
import { featuresOfDarwin, featuresOfLinux, instructionSet, runtimeSignature } from './runtime-signature.ts'

test('this machine says what it computes with, the same every time', () => {
  const signature = runtimeSignature()
  expect(runtimeSignatureSchema.parse(signature)).toEqual(signature)
  expect(signature).toMatchObject({ node: process.versions.node, arch: process.arch })
  expect(signature.instructions).toMatch(/^(avx512|avx2|avx|sse|neon|sme|unknown|[a-z0-9]+)$/)
  if (process.platform === 'linux') expect(signature.instructions).not.toBe('unknown')
  signature.node = 'changed'
  expect(runtimeSignature().node).toBe(process.versions.node)
})

describe('instructionSet', () => {
  it.each<[string, string | null, string]>([
    ['x64', 'sse4_2 avx f16c fma avx2 avx512f avx512bw', 'avx512'],
    ['x64', 'sse4_2 avx fma avx2', 'avx2'],
    ['x64', 'sse4_2 avx avx2', 'avx'],
    ['x64', 'sse2', 'sse'],
    ['arm64', 'fp asimd sve', 'neon'],
    ['arm64', 'fp asimd sve sme', 'sme'],
    ['riscv64', 'v', 'riscv64'],
    ['x64', null, 'unknown'],
  ])('%s with %s: %s', (arch, features, expected) => {
    expect(instructionSet(arch, features === null ? null : new Set(features.split(' ')))).toBe(expected)
  })
})

test('features are read as Linux and macOS write them', () => {
  expect(featuresOfLinux('processor\t: 0\nflags\t\t: fpu sse avx2 fma\nbugs\t: x\n')).toEqual(
    new Set(['fpu', 'sse', 'avx2', 'fma']),
  )
  expect(featuresOfLinux('Features\t: fp asimd\n')).toEqual(new Set(['fp', 'asimd']))
  expect(featuresOfLinux('nothing of the kind')).toBeNull()
  const mac = 'hw.optional.avx1_0: 1\nhw.optional.avx2_0: 1\nhw.optional.fma: 1\nhw.optional.avx512f: 0\n'
  expect(instructionSet('x64', featuresOfDarwin(mac))).toBe('avx2')
  expect(featuresOfDarwin('hw.optional.arm.FEAT_SME: 1\n')).toEqual(new Set(['sme']))
})
