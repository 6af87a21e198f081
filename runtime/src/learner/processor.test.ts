import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { missingInstructions, requireProcessor } from './processor.ts'

const old = 'processor\t: 0\nflags\t\t: fpu sse4_2 fma avx avx2\n\nprocessor\t: 1\nflags\t\t: fpu sse4_2 fma avx avx2\n'

describe('what a processor lacks to run a learner that was built elsewhere', () => {
  it.each([
    ['nothing', 'AVX\nAVX2\nFMA\n', []],
    ['larger vectors', 'AVX\nAVX2\nAVX512F\nAVX512VBMI2\nFMA\n', ['AVX512F', 'AVX512VBMI2']],
    ['nothing, of a build that uses nothing special', '', []],
  ])('%s', (_, built, missing) => {
    expect(missingInstructions(built, old)).toEqual(missing)
    expect(missingInstructions(built, old.replaceAll('avx2', 'avx2 avx512f avx512_vbmi2'))).toEqual([])
  })

  it('stops a training before it starts, but not on the machine that built it', () => {
    const folder = mkdtempSync(join(tmpdir(), 'agentgym-processor-'))
    const [built, processors] = [join(folder, 'instructions'), join(folder, 'cpuinfo')]
    writeFileSync(built, 'AVX2\nAVX512F\n')
    writeFileSync(processors, old)
    expect(() => requireProcessor(built, processors)).toThrow(
      expect.objectContaining({ code: 'setup_incomplete', message: expect.stringContaining('AVX512F') }),
    )
    expect(() => requireProcessor(built, join(folder, 'none'))).not.toThrow()
    expect(() => requireProcessor()).not.toThrow()
    rmSync(folder, { recursive: true })
  })
})
