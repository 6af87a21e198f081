import { parsePackageTarget } from '@agentgym/agent/packages'
import { describe, expect, it } from 'vitest'
import { requirePackageTarget } from './package-target.ts'

describe('a package target', () => {
  it.each([
    ['@acme/maze', '@acme/maze', undefined],
    ['@acme/maze@^1.2.0', '@acme/maze', '^1.2.0'],
    ['@acme/maze@>=1 <3', '@acme/maze', '>=1 <3'],
    ['@acme/maze@next', '@acme/maze', 'next'],
    ['@acme/maze@', '@acme/maze', undefined],
    // Whether that is a name is the server's to say.
    ['@ACME/Maze', '@ACME/Maze', undefined],
  ])('%s', (text, name, range) => expect(parsePackageTarget(text)).toEqual({ name, range }))

  it.each(['maze', 'maze@1', '@acme', '@acme/', '@/maze', './@acme/maze', '@acme/maze/deeper', '@a b/c', ''])(
    '%j is invalid',
    (text) => {
      expect(parsePackageTarget(text)).toBeUndefined()
      expect(() => requirePackageTarget(text)).toThrow(expect.objectContaining({ code: 'name_invalid' }))
    },
  )
})
